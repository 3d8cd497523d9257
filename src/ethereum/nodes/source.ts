import type { BlockHeader, ChainIdentity, Hash, Trace } from '../traces/index.ts';

export interface BlockRef {
  readonly number: number;
  readonly hash: Hash;
}

/** The ends of a node's chain. A node that knows no finality leaves the last two out. */
export interface NodeHeads {
  readonly latest: BlockRef;
  readonly safe?: BlockRef;
  readonly finalized?: BlockRef;
}

/** A block with all its traces, in the order in which they are served, checked against its header. */
export interface TracedBlock {
  readonly header: BlockHeader;
  readonly traces: readonly Trace[];
}

/**
 * What blocks and traces come from: one node or several. Every method rejects with NodeError where the node does not
 * answer or answers nonsense; none answers with what was not checked.
 */
export interface TraceSource {
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

/** A node did not answer, or what it answered cannot be used. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** Why, as one of few words: it labels a metric. */
  readonly reason: 'unreachable' | 'timeout' | 'refused' | 'nonsense' | 'oversized';

  constructor(reason: NodeError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
