import type { Hash } from '../../traces/index.ts';
import type { Health } from './health.ts';
import type { NodeChain } from './nodeChain.ts';
import type { HeadBlock, NodeHeads } from './nodeHeads.ts';

export interface HeadsState {
  readonly latest: HeadBlock | undefined;
  readonly safe: HeadBlock | undefined;
  readonly finalized: HeadBlock | undefined;
  /** Known block hashes of the head's chain, by block number. */
  readonly hashes: ReadonlyMap<number, Hash>;
  /** Lowest number from which each of these blocks is known to be the parent of the next one. */
  readonly linkedFrom: number;
}

export interface NodeState {
  readonly health: Health;
  readonly heads: NodeHeads | undefined;
  readonly lastPollSucceeded: boolean;
  readonly chain: NodeChain | undefined;
  readonly isChainVerified: boolean;
  readonly supportsBlockHashes: boolean | undefined;
}

/** Results of a pool's polls as plain data. A pool of another process with the same nodes can adopt them. */
export interface PoolState {
  readonly chain: NodeChain | undefined;
  readonly heads: HeadsState;
  /** States of the nodes, in the order of the configuration. */
  readonly nodes: readonly NodeState[];
}

/** Report that a process which does not poll has taken a node out of rotation. */
export interface NodeRemoval {
  readonly health: Health;
  readonly reason: string;
}
