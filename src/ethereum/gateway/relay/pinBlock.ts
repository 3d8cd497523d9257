import type { NetworkHeads } from '../../nodes/index.ts';
import type { RelayedRow } from '../methods/row.ts';

/**
 * Parameters with the block named by its hash (EIP-1898), as the head's chain has it. An answer about state does not say
 * which block it is of: a node that has changed its fork since it was polled would answer of another one, and nobody could
 * tell. Undefined where the method takes no hash, where the block is final and so the same on every fork, and where its
 * hash is not remembered.
 */
export function pinBlock(
  { scope, byHash }: RelayedRow,
  params: readonly unknown[],
  heads: NetworkHeads,
): readonly unknown[] | undefined {
  if (scope.of !== 'block' || byHash !== true) return undefined;
  const block = params[scope.param];
  if (typeof block !== 'string' || !block.startsWith('0x')) return undefined;
  const number = Number(block);
  if (number <= (heads.final ?? -1)) return undefined;
  const blockHash = heads.hashOf(number);
  return blockHash === undefined ? undefined : params.with(scope.param, { blockHash });
}
