import { isTag } from '../methods/kinds.ts';
import type { LogFilter } from '../methods/logFilter.ts';
import type { RelayedRow } from '../methods/row.ts';

/**
 * How long an answer may be cached, as far as the request alone tells.
 * - `never`.
 * - `constant`: for good.
 * - `found`: the block in the answer decides.
 * - a number: it depends on this block and those before; for good once that is final, else as long as the head.
 */
export type CachePolicy = 'never' | 'constant' | 'found' | number;

/** The cache policy of a request with canonical parameters in which tags were replaced where that is done. */
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
      const { fromBlock, toBlock } = params[0] as LogFilter; // what the parameter's kind made
      return fromBlock === undefined || isTag(fromBlock) ? 'never' : numberOf(toBlock);
    }
  }
}

const numberOf = (block: unknown): number | 'never' =>
  typeof block === 'string' && !isTag(block) ? Number(block) : 'never';

/** The block in which an answer was found; undefined where it was in none yet. */
export function foundIn({ scope }: RelayedRow, value: unknown): number | undefined {
  if (scope.of !== 'found' || typeof value !== 'object' || value === null) return undefined;
  const number: unknown = (value as Readonly<Record<string, unknown>>)[scope.member]; // a JSON object
  return numberIn(number);
}

/** The number of the latest block, where an answer tells it. */
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
