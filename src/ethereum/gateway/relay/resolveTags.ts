import { NoNodeError, RpcError } from '../../jsonrpc/index.ts';
import type { NodePool } from '../../nodes/index.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import { checkLogRange } from '../methods/logRange.ts';
import { isTag, type Tag } from '../methods/paramTypes.ts';
import type { RelayedRow } from '../methods/row.ts';

/**
 * Replaces block tags by block numbers, because each node would resolve `latest` to its own head. If there is only
 * one node, it resolves tags itself, except in a log range: the gateway must check the width of the range. Throws
 * RpcError.
 */
export function resolveTags(
  { scope }: RelayedRow,
  params: readonly unknown[],
  { pool, logsBlocks }: { readonly pool: NodePool; readonly logsBlocks: number },
): readonly unknown[] | Promise<readonly unknown[]> {
  if (scope.of === 'logs') {
    const filter = params[0] as LogFilter; // validated by the parameter type
    const tagged = isTag(filter.fromBlock) || isTag(filter.toBlock);
    return tagged ? resolveRange(filter, pool, logsBlocks) : params;
  }
  if (scope.of !== 'block' || pool.isSingle) return params;
  const block = params[scope.param];
  if (!isTag(block) || block === 'pending') return params;
  if (pool.heads.latest === undefined)
    return pool.waitForRecovery().then(() => resolveBlock(params, scope.param, pool));
  return resolveBlock(params, scope.param, pool);
}

function resolveBlock(params: readonly unknown[], param: number, pool: NodePool): readonly unknown[] {
  const resolved = [...params];
  resolved[param] = numberOf(params[param] as Tag, pool); // the caller has checked that it is a tag
  return resolved;
}

async function resolveRange(
  filter: LogFilter,
  pool: NodePool,
  logsBlocks: number,
): Promise<readonly unknown[]> {
  const [node] = pool.nodes;
  // A single node is polled first, as clients often wait for logs of a block newer than its last poll.
  if (pool.isSingle && node !== undefined) await pool.refresh(node);
  const { fromBlock = 'latest', toBlock = 'latest' } = filter;
  const resolved: LogFilter = {
    ...filter,
    fromBlock: isTag(fromBlock) ? numberOf(fromBlock, pool) : fromBlock,
    toBlock: isTag(toBlock) ? numberOf(toBlock, pool) : toBlock,
  };
  checkLogRange(resolved, logsBlocks);
  return [resolved];
}

/** Returns the number of the block with a tag, as a `0x` string. Throws RpcError. */
export function numberOf(tag: Tag, { heads }: NodePool): string {
  const number =
    tag === 'earliest' ? 0 : tag === 'safe' || tag === 'finalized' ? heads[tag] : heads.latest?.number;
  if (number !== undefined) return `0x${number.toString(16)}`;
  if (heads.latest === undefined) throw new NoNodeError();
  throw new RpcError('resourceNotFound', `no node reports a ${tag} block`);
}
