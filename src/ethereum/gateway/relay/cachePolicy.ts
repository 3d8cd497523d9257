import type { LogFilter } from '../methods/logFilter.ts';
import { isTag } from '../methods/paramTypes.ts';
import type { RelayedRow } from '../methods/row.ts';

/**
 * Cache lifetime of a result, as far as it can be determined from the request.
 * - `never`: not cached.
 * - `constant`: cached permanently.
 * - `found`: depends on the block that the result contains.
 * - a number: the result depends on the block with this number and its ancestors. It is cached permanently if the block
 *   is final, otherwise until the head changes.
 */
export type CachePolicy = 'never' | 'constant' | 'found' | number;

/** Returns the cache policy. Parameters must be canonical, with tags as numbers if the method allows it. */
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
 * Returns true for a look-up by hash, or by sender and nonce. Null may then mean that only the node that
 * responded lacks the object.
 */
export function isLookUp({ nullable, scope }: RelayedRow, params: readonly unknown[]): boolean {
  if (nullable !== true) return false;
  // A request for a block by number is no look-up, because it is sent only to nodes that have the block. A request by
  // hash is one.
  return scope.of !== 'block' || typeof params[scope.param] === 'object';
}

/** Returns the block number of the transaction or receipt in a result. Undefined if no block contains it yet. */
export function foundIn({ scope }: RelayedRow, value: unknown): number | undefined {
  if (scope.of !== 'found' || typeof value !== 'object' || value === null) return undefined;
  const number: unknown = (value as Readonly<Record<string, unknown>>)[scope.member]; // an object of parsed JSON
  return numberIn(number);
}

/** Returns the number of the latest block, if the result of a node contains it. Otherwise undefined. */
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
