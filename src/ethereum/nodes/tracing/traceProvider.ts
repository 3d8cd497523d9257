import type {
  BlockHeader,
  ChainIdentity,
  Data,
  Hash,
  IndexedBlock,
  Trace,
  TraceFailure,
} from '../../traces/index.ts';
import type { BlockRef, NodeHeads } from '../pool/nodeHeads.ts';

/** A block's header and all its traces, in the order in which they are served. The traces match the header. */
export interface TracedBlock {
  readonly header: BlockHeader;
  readonly traces: readonly Trace[];
  /** Reason why no node can trace the block; `traces` is then empty. Default: the block was traced. */
  readonly unavailable?: TraceFailure;
  /** Whether a transaction of the network has no frames, which another node may list. Default: false. */
  readonly lacksFrames?: boolean;
}

/**
 * Source of blocks and traces: one node or several nodes. Every method checks what a node returns, and rejects with
 * NodeError if no node responds, or if the response is invalid.
 */
export interface TraceProvider {
  chain(): Promise<ChainIdentity>;
  heads(): Promise<NodeHeads>;
  /** Returns the block with a number on the node's current chain; undefined if the number is above the head. */
  blockRef(blockNumber: number): Promise<BlockRef | undefined>;
  /** Returns the block with a number and its traces; undefined if the number is above the head. */
  block(blockNumber: number): Promise<TracedBlock | undefined>;
}

/** Source of blocks that prepares them for the index itself, for example in several threads. */
export interface BlockSource extends Pick<TraceProvider, 'chain' | 'heads'> {
  /** Returns the block with a number; undefined if there is none. */
  indexedBlock(blockNumber: number): Promise<IndexedBlock | undefined>;
}

export interface TransactionFinder {
  /** Returns the number of the block that contains a transaction; undefined if none does. Rejects with NodeError. */
  transactionBlock(hash: Hash): Promise<number | undefined>;
  /** Returns the output of a reverted transaction. Rejects with NodeError. */
  revertOutput(hash: Hash): Promise<Data>;
}

export interface BlockFinder {
  /** Returns the block with a hash, on any fork; undefined if no node knows this block. Rejects with NodeError. */
  blockOfHash(hash: Hash): Promise<BlockRef | undefined>;
}
