import type { Address, BlockHeader } from '../../index.ts';
import type { ChainRules } from './chainRules.ts';
import { type Fork, forkAt, isForkActive } from './forks.ts';
import { precompilesUnder } from './precompiles.ts';

/** Rules of one block. */
export interface BlockRules {
  readonly fork: Fork;
  readonly precompiles: ReadonlySet<Address>;
  /** `true` if the rules are assumed, because neither the forks of the chain are known nor reported by its node. */
  readonly isAssumed: boolean;
}

/**
 * Returns the rules of a block: the reported rules since the fork that the node reports, the built-in table before it. A
 * report never replaces a fork of the table by an older one, because it may omit the changes of a fork.
 */
export function blockRulesAt(
  rules: ChainRules,
  header: Pick<BlockHeader, 'number' | 'timestamp'>,
): BlockRules {
  const fork = forkAt(rules, header);
  const reported = rules.reported?.findLast(({ since }) => header.timestamp >= since);
  if (reported === undefined)
    return { fork, precompiles: precompilesUnder(fork), isAssumed: rules.areForksAssumed };
  const isOlder = !rules.areForksAssumed && !isForkActive(fork, reported.fork);
  return { fork: isOlder ? fork : reported.fork, precompiles: reported.precompiles, isAssumed: false };
}
