import { bloomOf, isWithin } from '../../nodes/index.ts';
import type { Network } from '../relay/network.ts';
import type { LiveBlock } from './headFeed.ts';
import { asking } from './liveBlocks.ts';

/** A log of a block, ready to be pushed. */
export interface LiveLog {
  readonly address: string;
  readonly topics: readonly string[];
  /** As JSON, whether it stands or was taken back. */
  text(removed: boolean): string;
}

/**
 * The logs of blocks, asked for once each by the block's hash, and held to the bloom filter of its header: a node that has no logs of
 * its newest block yet answers with an empty list. Rejects where no node gives all of them now.
 */
export function liveLogs(network: Network): (block: LiveBlock) => Promise<readonly LiveLog[]> {
  const ask = asking(network, 'eth_getLogs');
  return async ({ hash, logsBloom }) => {
    if (logsBloom === undefined) return [];
    const logs = (await ask({ blockHash: hash })) as Readonly<Record<string, unknown>>[]; // a list of logs, as the row's check says
    const { bits, isWhole } = bloomOf(logs);
    if (isWhole && !isWithin(logsBloom, bits)) throw new Error(`logs of block ${hash} are missing`);
    return logs.map(liveLog);
  };
}

function liveLog({ removed: _removed, ...log }: Readonly<Record<string, unknown>>): LiveLog {
  const { address, topics } = log;
  const start = JSON.stringify(log).slice(0, -1);
  return {
    address: String(address).toLowerCase(),
    topics: Array.isArray(topics) ? topics.map((topic) => String(topic).toLowerCase()) : [],
    text: (removed) => `${start},"removed":${removed}}`,
  };
}
