import { bloomOf, isWithin } from '../../../nodes/index.ts';
import { type LogFilter, numberOfBound, wantedValues } from '../../methods/logFilter.ts';
import type { Network } from '../../relay/network.ts';
import type { ItemValues } from './filterIndex.ts';
import type { LiveBlock } from './headFeed.ts';
import { nodeRequester } from './liveBlocks.ts';
import type { ItemFilter, PushItem } from './subscribers.ts';

export interface LiveLog extends PushItem {
  readonly blockNumber: number;
  readonly values: ItemValues;
}

export type LiveLogFilter = Omit<LogFilter, 'blockHash'>;

/** Returns the filter of a log subscription. Block numbers restrict new logs; block tags such as `latest` do not. */
export function wantedLogs({ fromBlock, toBlock, ...filter }: LiveLogFilter): ItemFilter<LiveLog> {
  const wanted = wantedValues(filter);
  const [first, last] = [numberOfBound(fromBlock) ?? 0, numberOfBound(toBlock) ?? Number.POSITIVE_INFINITY];
  return {
    wanted,
    accepts: ({ blockNumber, values }) =>
      blockNumber >= first && blockNumber <= last && wanted.length <= values.length,
  };
}

/**
 * Returns a function that fetches the logs of a block. A node may briefly return an empty list for its newest block,
 * so the logs are compared with the logs bloom of the block header. Rejects if no node returns all logs.
 */
export function liveLogs(network: Network): (block: LiveBlock) => Promise<readonly LiveLog[]> {
  const ask = nodeRequester(network, 'eth_getLogs');
  return async ({ hash, logsBloom }) => {
    if (logsBloom === undefined) return [];
    const logs = (await ask([{ blockHash: hash }])) as Readonly<Record<string, unknown>>[]; // verified by the result check
    const { bits, isWhole } = bloomOf(logs);
    if (isWhole && !isWithin(logsBloom, bits)) throw new Error(`logs of block ${hash} are missing`);
    return logs.map(liveLog);
  };
}

/** Converts a log as nodes return it. */
export function liveLog({ removed: _removed, ...log }: Readonly<Record<string, unknown>>): LiveLog {
  const { address, topics, blockNumber } = log;
  return {
    blockNumber: Number(blockNumber),
    values: valuesOf(address, topics),
    text: JSON.stringify(log),
  };
}

/** Returns the address and the topics of a log, as `wantedValues` has them. */
const valuesOf = (address: unknown, topics: unknown): ItemValues =>
  [address, ...(Array.isArray(topics) ? topics : [])].map((value) => [String(value).toLowerCase()]);
