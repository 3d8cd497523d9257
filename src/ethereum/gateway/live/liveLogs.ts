import { bloomOf, isWithin } from '../../nodes/index.ts';
import { topicsMatch } from '../methods/checkLogs.ts';
import { type LogFilter, numberOfBound } from '../methods/logFilter.ts';
import type { Network } from '../relay/network.ts';
import type { LiveBlock } from './headFeed.ts';
import { asking } from './liveBlocks.ts';
import type { Item, Wanted } from './subscribers.ts';

/** A log of a block, ready to be pushed. */
export interface LiveLog extends Item {
  readonly blockNumber: number;
  readonly topics: readonly string[];
}

export type LiveLogFilter = Omit<LogFilter, 'blockHash'>;

/** The logs of all addresses; no address is written so. */
const ANY = 'any';

/** Bounds that are tags do not restrict what is new. */
export function wantedLogs({ address, topics = [], fromBlock, toBlock }: LiveLogFilter): Wanted<LiveLog> {
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
 * The logs of blocks, asked for once each by the block's hash, and held to the bloom filter of its header: a node that has no logs of
 * its newest block yet answers with an empty list. Rejects where no node gives all of them now.
 */
export function liveLogs(network: Network): (block: LiveBlock) => Promise<readonly LiveLog[]> {
  const ask = asking(network, 'eth_getLogs');
  return async ({ hash, logsBloom }) => {
    if (logsBloom === undefined) return [];
    const logs = (await ask([{ blockHash: hash }])) as Readonly<Record<string, unknown>>[]; // a list of logs, as the row's check says
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
