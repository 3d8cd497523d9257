import type { Health } from './health.ts';
import type { NodeChain } from './nodeChain.ts';
import type { HeadBlock, NodeHeads } from './nodeHeads.ts';

export interface HeadsState {
  readonly latest: HeadBlock | undefined;
  readonly safe: HeadBlock | undefined;
  readonly finalized: HeadBlock | undefined;
  /** Known hashes of the head's chain, by number. */
  readonly hashes: ReadonlyMap<number, string>;
}

export interface NodeState {
  readonly health: Health;
  readonly heads: NodeHeads | undefined;
  readonly lastPollSucceeded: boolean;
  readonly chain: NodeChain | undefined;
  readonly isChainVerified: boolean;
  readonly supportsBlockHashes: boolean | undefined;
}

/** Poll results of a pool as plain data, which another process with the same nodes can adopt. */
export interface PoolState {
  readonly chain: NodeChain | undefined;
  readonly heads: HeadsState;
  /** In the order of the configuration. */
  readonly nodes: readonly NodeState[];
}

/** Report of a process that does not poll: the node was taken out of rotation. */
export interface NodeRemoval {
  readonly health: Health;
  readonly reason: string;
}
