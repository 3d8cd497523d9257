import { NoNodeError, RpcError } from '../../jsonrpc/index.ts';
import type { NodePool } from '../../nodes/index.ts';
import { isTag, type Tag } from '../methods/kinds.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import { checkLogRange } from '../methods/logRange.ts';
import type { RelayedRow } from '../methods/row.ts';

/**
 * Canonical parameters with tags replaced by the numbers that they stand for now. With several nodes that is what makes
 * them one: each would answer `latest` for its own head. A single node is left to say itself what its tags mean, except
 * in a range of logs, whose width must be known. Throws RpcError.
 */
export function resolveTags(
  { scope }: RelayedRow,
  params: readonly unknown[],
  pool: NodePool,
): readonly unknown[] | Promise<readonly unknown[]> {
  if (scope.of === 'logs') {
    const filter = params[0] as LogFilter; // what the parameter's kind made
    const tagged = isTag(filter.fromBlock) || isTag(filter.toBlock);
    return tagged ? resolveRange(filter, pool) : params;
  }
  if (scope.of !== 'block' || pool.isSingle) return params;
  const block = params[scope.param];
  if (!isTag(block) || block === 'pending') return params;
  if (pool.heads.latest === undefined)
    return pool.comesBack().then(() => resolveBlock(params, scope.param, pool));
  return resolveBlock(params, scope.param, pool);
}

function resolveBlock(params: readonly unknown[], param: number, pool: NodePool): readonly unknown[] {
  const resolved = [...params];
  resolved[param] = numberOf(params[param] as Tag, pool); // the caller looked
  return resolved;
}

async function resolveRange(filter: LogFilter, pool: NodePool): Promise<readonly unknown[]> {
  const [node] = pool.nodes;
  // The head of a single node may have moved since it was polled, and its next block is whose logs are waited for.
  if (pool.isSingle && node !== undefined) await pool.refresh(node);
  const { fromBlock = 'latest', toBlock = 'latest' } = filter;
  const resolved: LogFilter = {
    ...filter,
    fromBlock: isTag(fromBlock) ? numberOf(fromBlock, pool) : fromBlock,
    toBlock: isTag(toBlock) ? numberOf(toBlock, pool) : toBlock,
  };
  checkLogRange(resolved);
  return [resolved];
}

function numberOf(tag: Tag, { heads }: NodePool): string {
  const number =
    tag === 'earliest' ? 0 : tag === 'safe' || tag === 'finalized' ? heads[tag] : heads.latest?.number;
  if (number !== undefined) return `0x${number.toString(16)}`;
  if (heads.latest === undefined) throw new NoNodeError();
  throw new RpcError('resourceNotFound', `the nodes know no ${tag} block`);
}
