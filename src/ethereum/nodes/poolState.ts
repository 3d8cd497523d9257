import type { Health } from './health.ts';
import type { NodeChain } from './nodeChain.ts';
import type { HeadBlock, NodeHeads } from './nodeHeads.ts';

/** The heads of a network as plain data. */
export interface HeadsState {
  readonly latest: HeadBlock | undefined;
  readonly safe: HeadBlock | undefined;
  readonly finalized: HeadBlock | undefined;
  /** Hashes of the head's chain that are remembered, by number. */
  readonly hashes: ReadonlyMap<number, string>;
}

/** A node as its polls found it, as plain data. */
export interface NodeState {
  readonly health: Health;
  readonly heads: NodeHeads | undefined;
  readonly isHeard: boolean;
  readonly chain: NodeChain | undefined;
  readonly isChainVerified: boolean;
  readonly takesHashes: boolean | undefined;
}

/** What a pool knows by its polls, as plain data: another process that asks the same nodes may follow it. */
export interface PoolState {
  readonly chain: NodeChain | undefined;
  readonly heads: HeadsState;
  /** In the order in which the nodes are configured. */
  readonly nodes: readonly NodeState[];
}

/** A node that was taken out of rotation where polls are not made. */
export interface SetAside {
  readonly health: Health;
  readonly reason: string;
}
