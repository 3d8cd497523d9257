import type { LogFilter } from '../methods/logFilter.ts';
import { isTag } from '../methods/paramTypes.ts';
import type { RelayedRow } from '../methods/row.ts';

/**
 * Determines how long a result can be cached, as far as the request alone decides this.
 * - `never`: The result is not cached.
 * - `constant`: The result never changes.
 * - `found`: The result contains the number of the block on which it depends.
 * - a number: The result depends on the block with this number and on its ancestors. If the block is final, the
 *   result never changes. Otherwise the result is cached until the head changes.
 */
export type CachePolicy = 'never' | 'constant' | 'found' | number;

/** Returns the cache policy of a request with canonical parameters. A request with a block tag is not cached. */
export function cachePolicyOf({ scope }: RelayedRow, params: readonly unknown[]): CachePolicy {
  switch (scope.of) {
    case 'constant':
    case 'found':
      return scope.of;
    case 'moment':
    case 'head':
      return 'never';
    case 'block':
      return numberOf(params[scope.param]);
    case 'logs': {
      const { fromBlock, toBlock } = params[0] as LogFilter; // validated by the parameter type
      return fromBlock === undefined || isTag(fromBlock) ? 'never' : numberOf(toBlock);
    }
  }
}

const numberOf = (block: unknown): number | 'never' =>
  typeof block === 'string' && !isTag(block) ? Number(block) : 'never';

/** Returns the highest block number in the parameters of a request, or -1 if they contain none. */
export function highestBlockIn({ scope }: RelayedRow, params: readonly unknown[]): number {
  if (scope.of !== 'block' && scope.of !== 'logs') return -1;
  const { fromBlock, toBlock } = scope.of === 'logs' ? (params[0] as LogFilter) : {}; // validated by the parameter type
  const named = scope.of === 'block' ? [params[scope.param]] : [fromBlock, toBlock];
  return Math.max(-1, ...named.map(numberOf).filter((number) => number !== 'never'));
}

/**
 * Returns true if a request looks up an object that may not exist. If a node returns null for such a request, other
 * nodes may still have the object.
 */
export function isLookUp(
  { nullable, scope, isBlockItself }: RelayedRow,
  params: readonly unknown[],
): boolean {
  if (nullable !== true) return false;
  // A block is requested by number only from nodes that have it, so that is no look-up. A request by hash (an object)
  // is one.
  return isBlockItself !== true || scope.of !== 'block' || typeof params[scope.param] === 'object';
}

/** Returns the number of the block that a result is or belongs to. Undefined for a transaction without a block. */
export function foundIn({ scope }: RelayedRow, value: unknown): number | undefined {
  if (scope.of !== 'found' || typeof value !== 'object' || value === null) return undefined;
  const number: unknown = (value as Readonly<Record<string, unknown>>)[scope.member]; // an object of parsed JSON
  return numberIn(number);
}

/** Returns the head's block number if the result contains it, as for `eth_blockNumber` or the block `latest`. */
export function headIn(
  { scope, isBlockItself }: RelayedRow,
  params: readonly unknown[],
  value: unknown,
): number | undefined {
  if (scope.of === 'head') return numberIn(value);
  const isLatest = scope.of === 'block' && isBlockItself === true && params[scope.param] === 'latest';
  if (!isLatest || typeof value !== 'object' || value === null || !('number' in value)) return undefined;
  return numberIn(value.number);
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'string' && /^0x[0-9a-f]{1,14}$/i.test(value) ? Number(value) : undefined;
