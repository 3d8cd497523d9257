import type { LogFilter } from './logFilter.ts';

export interface BlockReference {
  readonly number: number;
  readonly hash: string;
}

export const blockItself = (_params: readonly unknown[], value: unknown): Iterable<BlockReference> =>
  refsIn([value], 'number', 'hash');

/** Returns the block of a result that is a transaction or a receipt: the block that contains the transaction. */
export const blockOfInclusion = (_params: readonly unknown[], value: unknown): Iterable<BlockReference> =>
  refsIn([value], 'blockNumber', 'blockHash');

/** Returns the blocks of a list of logs. None for a filter with a block hash: its result is valid on any fork. */
export function blocksOfLogs(params: readonly unknown[], value: unknown): Iterable<BlockReference> {
  const { blockHash } = params[0] as LogFilter; // validated by the parameter type
  return blockHash === undefined && Array.isArray(value) ? refsIn(value, 'blockNumber', 'blockHash') : [];
}

/**
 * Returns the block of a list of receipts. `check` has verified that there is only one. Returns none if the request
 * has a block hash, because the result is then valid on any fork.
 */
export const blocksOfReceipts = ([block]: readonly unknown[], value: unknown): Iterable<BlockReference> =>
  typeof block === 'string' && Array.isArray(value)
    ? refsIn(value.slice(0, 1), 'blockNumber', 'blockHash')
    : [];

function* refsIn(
  entries: readonly unknown[],
  numberMember: string,
  hashMember: string,
): Iterable<BlockReference> {
  for (const entry of entries) {
    if (typeof entry !== 'object' || entry === null) continue;
    const { [numberMember]: number, [hashMember]: hash } = entry as Readonly<Record<string, unknown>>; // an object of parsed JSON
    if (typeof number === 'string' && typeof hash === 'string')
      yield { number: Number(number), hash: hash.toLowerCase() };
  }
}
