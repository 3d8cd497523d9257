import { bloomOf, isWithin } from '../../../nodes/index.ts';
import { topicsMatch } from '../../methods/checkLogs.ts';
import { type LogFilter, numberOfBound } from '../../methods/logFilter.ts';
import type { Network } from '../../relay/network.ts';
import type { LiveBlock } from './headFeed.ts';
import { nodeRequester } from './liveBlocks.ts';
import type { ItemFilter, PushItem } from './subscribers.ts';

export interface LiveLog extends PushItem {
  readonly blockNumber: number;
  readonly topics: readonly string[];
}

export type LiveLogFilter = Omit<LogFilter, 'blockHash'>;

/** Key in the subscriber index for subscriptions without an address, which match logs of all addresses. */
const ANY = 'any';

/** Returns the filter of a log subscription. Block numbers restrict new logs; block tags such as `latest` do not. */
export function wantedLogs({ address, topics = [], fromBlock, toBlock }: LiveLogFilter): ItemFilter<LiveLog> {
  const addresses = [address ?? []].flat();
  const [first, last] = [numberOfBound(fromBlock) ?? 0, numberOfBound(toBlock) ?? Number.POSITIVE_INFINITY];
  return {
    keys: addresses.length === 0 ? [ANY] : addresses,
    matches: (log) =>
      log.blockNumber >= first &&
      log.blockNumber <= last &&
      topics.length <= log.topics.length &&
      topicsMatch(topics, log.topics),
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

function liveLog({ removed: _removed, ...log }: Readonly<Record<string, unknown>>): LiveLog {
  const { address, topics, blockNumber } = log;
  return {
    blockNumber: Number(blockNumber),
    keys: [String(address).toLowerCase(), ANY],
    topics: Array.isArray(topics) ? topics.map((topic) => String(topic).toLowerCase()) : [],
    text: JSON.stringify(log),
  };
}
