import type { Address, BlockHeader } from '../../index.ts';
import { chainRulesOf } from './chainRulesOf.ts';
import { forkAt } from './forks.ts';
import { precompilesUnder } from './precompiles.ts';

/** Returns Ethereum's precompiled contracts at a block of a chain. */
export const precompilesAt = (
  chainId: number,
  block: Pick<BlockHeader, 'number' | 'timestamp'>,
): ReadonlySet<Address> => precompilesUnder(forkAt(chainRulesOf(chainId), block));
