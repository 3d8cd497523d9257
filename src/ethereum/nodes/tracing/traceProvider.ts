import type { BlockHeader, ChainIdentity, Hash, Trace, TraceFailure } from '../../traces/index.ts';
import type { BlockRef, NodeHeads } from '../pool/nodeHeads.ts';

/** A block with all its traces, in serving order, checked against its header. */
export interface TracedBlock {
  readonly header: BlockHeader;
  readonly traces: readonly Trace[];
  /** Reason that no node can trace the block; it then has no traces. Default: the block was traced. */
  readonly unavailable?: TraceFailure;
}

/**
 * Source of blocks and traces: one node or several. Every method checks the results, and rejects with NodeError if
 * the node does not respond or sends an invalid response.
 */
export interface TraceProvider {
  chain(): Promise<ChainIdentity>;
  heads(): Promise<NodeHeads>;
  /** Returns the block at a height of the node's current chain; undefined above its head. */
  blockRef(blockNumber: number): Promise<BlockRef | undefined>;
  /** Returns the block at a height with its traces; undefined above the node's head. */
  block(blockNumber: number): Promise<TracedBlock | undefined>;
}

export interface TransactionFinder {
  /** Returns the number of the block with a transaction; undefined if no block has it. Rejects with NodeError. */
  transactionBlock(hash: Hash): Promise<number | undefined>;
}

export interface BlockFinder {
  /** Returns the block with a hash, on any fork; undefined if no node knows it. Rejects with NodeError. */
  blockOfHash(hash: Hash): Promise<BlockRef | undefined>;
}
