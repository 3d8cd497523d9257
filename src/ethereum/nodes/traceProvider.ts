import type { BlockHeader, ChainIdentity, Hash, Trace } from '../traces/index.ts';
import type { BlockRef, NodeHeads } from './nodeHeads.ts';

/** A block with all its traces, in the order in which they are served, checked against its header. */
export interface TracedBlock {
  readonly header: BlockHeader;
  readonly traces: readonly Trace[];
}

/**
 * What blocks and traces come from: one node or several. Every method rejects with NodeError where the node does not
 * answer or answers nonsense; none answers with what was not checked.
 */
export interface TraceProvider {
  chain(): Promise<ChainIdentity>;
  heads(): Promise<NodeHeads>;
  /** The block at a height of the node's current chain; undefined past its head. */
  blockRef(blockNumber: number): Promise<BlockRef | undefined>;
  /** The block at a height with its traces; undefined past the node's head. */
  block(blockNumber: number): Promise<TracedBlock | undefined>;
}

/** Tells where a transaction is. */
export interface TransactionFinder {
  /** The number of the block that a transaction is in; undefined where it is in none. Rejects with NodeError. */
  transactionBlock(hash: Hash): Promise<number | undefined>;
}
