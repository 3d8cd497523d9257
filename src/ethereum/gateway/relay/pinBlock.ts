import type { NetworkHeads } from '../../nodes/index.ts';
import type { RelayedRow } from '../methods/row.ts';

/**
 * Returns the parameters with the block number replaced by the block's hash (EIP-1898). A result about state does not
 * contain its block. So if a node switched to another fork after its last poll, only the hash ensures that the result
 * is not from that fork. Returns undefined if the method accepts no hash, the hash is unknown, or the block is final.
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
