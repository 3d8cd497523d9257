import type { LogFilter } from './logFilter.ts';

/** A block that an answer says it is, or stands in. */
export interface BlockTold {
  readonly number: number;
  readonly hash: string;
}

/** The block that an answer is. */
export const blockItself = (_params: readonly unknown[], value: unknown): Iterable<BlockTold> =>
  refsIn([value], 'number', 'hash');

/** The block that a transaction or a receipt stands in. */
export const blockOfInclusion = (_params: readonly unknown[], value: unknown): Iterable<BlockTold> =>
  refsIn([value], 'blockNumber', 'blockHash');

/** The blocks of logs. None where the filter names a block by its hash: such an answer is right on whatever fork. */
export function blocksOfLogs(params: readonly unknown[], value: unknown): Iterable<BlockTold> {
  const { blockHash } = params[0] as LogFilter; // what the parameter's kind made
  return blockHash === undefined && Array.isArray(value) ? refsIn(value, 'blockNumber', 'blockHash') : [];
}

/** The block of receipts, which their check has found to be one. None where it was asked for by its hash. */
export const blocksOfReceipts = ([block]: readonly unknown[], value: unknown): Iterable<BlockTold> =>
  typeof block === 'string' && Array.isArray(value)
    ? refsIn(value.slice(0, 1), 'blockNumber', 'blockHash')
    : [];

function* refsIn(entries: readonly unknown[], numberMember: string, hashMember: string): Iterable<BlockTold> {
  for (const entry of entries) {
    if (typeof entry !== 'object' || entry === null) continue;
    const { [numberMember]: number, [hashMember]: hash } = entry as Readonly<Record<string, unknown>>; // a JSON object
    if (typeof number === 'string' && typeof hash === 'string')
      yield { number: Number(number), hash: hash.toLowerCase() };
  }
}
