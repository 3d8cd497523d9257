import { InvalidResponseError } from '../../nodes/index.ts';
import { type LogFilter, wantedValues } from './logFilter.ts';
import { isTag } from './paramTypes.ts';

/** Throws InvalidResponseError if a log does not match the filter, or if one block number has two block hashes. */
export function checkLogs(filter: LogFilter, logs: readonly unknown[]): void {
  const from = boundOf(filter.fromBlock);
  const to = boundOf(filter.toBlock);
  const [addresses, ...topics] = wantedValues(filter);
  const hashes = new Map<unknown, unknown>();
  for (const entry of logs) {
    if (typeof entry !== 'object' || entry === null) throw new InvalidResponseError('a log is not an object');
    const log = entry as Readonly<Record<string, unknown>>; // an object of parsed JSON
    const number = Number(log['blockNumber']);
    if (
      number < from ||
      number > to ||
      (filter.blockHash !== undefined && String(log['blockHash']).toLowerCase() !== filter.blockHash)
    )
      throw new InvalidResponseError(`a log of block ${log['blockNumber']} was not requested`);
    const { blockNumber, blockHash } = log;
    if ((hashes.get(blockNumber) ?? blockHash) !== blockHash)
      throw new InvalidResponseError(`logs of two different blocks ${blockNumber}`);
    hashes.set(blockNumber, blockHash);
    if (addresses?.has(String(log['address']).toLowerCase()) === false)
      throw new InvalidResponseError(`a log of ${log['address']} was not requested`);
    const has: readonly unknown[] = Array.isArray(log['topics']) ? log['topics'] : [];
    if (topics.some((wanted, i) => wanted?.has(String(has[i]).toLowerCase()) === false))
      throw new InvalidResponseError('a log with topics that were not requested');
  }
}

/** Returns a bound of a block range as a number. A tag becomes NaN, so that all comparisons with it are false. */
const boundOf = (bound: string | undefined): number =>
  bound === undefined || isTag(bound) ? Number.NaN : Number(bound);
