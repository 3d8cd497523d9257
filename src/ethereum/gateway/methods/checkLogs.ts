import { InvalidResponseError } from '../../nodes/index.ts';
import { isTag } from './kinds.ts';
import type { LogFilter } from './logFilter.ts';

/** Checks that every log is one that the filter asks for, and that logs of one height are of one block. Throws InvalidResponseError. */
export function checkLogs(filter: LogFilter, logs: readonly unknown[]): void {
  const from = boundOf(filter.fromBlock);
  const to = boundOf(filter.toBlock);
  const addresses = filter.address === undefined ? [] : [filter.address].flat();
  const hashes = new Map<unknown, unknown>();
  for (const entry of logs) {
    if (typeof entry !== 'object' || entry === null) throw new InvalidResponseError('a log is no object');
    const log = entry as Readonly<Record<string, unknown>>; // a JSON object
    const number = Number(log['blockNumber']);
    if (
      number < from ||
      number > to ||
      (filter.blockHash !== undefined && log['blockHash'] !== filter.blockHash)
    )
      throw new InvalidResponseError(`a log of block ${log['blockNumber']} came that was not asked for`);
    const { blockNumber, blockHash } = log;
    if ((hashes.get(blockNumber) ?? blockHash) !== blockHash)
      throw new InvalidResponseError(`logs of two different blocks ${blockNumber} came`);
    hashes.set(blockNumber, blockHash);
    if (addresses.length > 0 && !addresses.includes(String(log['address']).toLowerCase()))
      throw new InvalidResponseError(`a log of ${log['address']} came that was not asked for`);
    if (!topicsMatch(filter.topics ?? [], log['topics']))
      throw new InvalidResponseError('a log came with topics that were not asked for');
  }
}

/** A bound as a number; NaN, which is neither below nor above anything, where it is a tag. */
const boundOf = (bound: string | undefined): number =>
  bound === undefined || isTag(bound) ? Number.NaN : Number(bound);

/** Whether topics are those that a filter wants, at each place that it has a wish for. */
export function topicsMatch(wanted: NonNullable<LogFilter['topics']>, topics: unknown): boolean {
  const has: readonly unknown[] = Array.isArray(topics) ? topics : [];
  return wanted.every((choice, i) => {
    const choices = [choice].flat();
    // Nothing, and null, stand for any topic.
    return choices.length === 0 || choices.includes(null) || choices.includes(String(has[i]).toLowerCase());
  });
}
