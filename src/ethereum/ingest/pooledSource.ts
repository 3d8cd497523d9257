import type { Span } from '../../platform/spans/index.ts';
import {
  type BlockRef,
  endWith,
  NodeError,
  type NodeHeads,
  type NodePool,
  type NodeTraces,
  type TracedBlock,
  type TraceProvider,
  type TransactionFinder,
  type UpstreamNode,
} from '../nodes/index.ts';
import type { ChainIdentity, Hash } from '../traces/index.ts';

/** What is too large at two nodes is so at all: it is not taken in from each of them. */
const MAX_OVERSIZED_ANSWERS = 2;

/** A chain to index. */
export interface ChainSource extends TraceProvider {
  /** The heads as they are now; `heads` gives them as they were last heard of. */
  freshHeads(): Promise<NodeHeads>;
  /** As they were last heard of, whether or not anybody answers now; undefined before that. */
  readonly knownHeads: NodeHeads | undefined;
}

/** Begins the span of a block that is fetched; undefined where it is not traced. */
export type BeginBlock = (blockNumber: number) => Span | undefined;

/** Hears that a node did not give what it was asked for, and why; others are asked then. */
export type FailedOver = (node: UpstreamNode, what: string, error: NodeError) => void;

/**
 * The nodes of a network as one source, which keeps no health and no head of its own: the pool has them. What one node fails
 * or cannot give is asked of the next.
 */
export class PooledSource implements ChainSource, TransactionFinder {
  readonly #pool: NodePool;
  readonly #failedOver: FailedOver;
  readonly #beginBlock: BeginBlock | undefined;

  constructor(pool: NodePool, failedOver: FailedOver = () => undefined, beginBlock?: BeginBlock) {
    this.#pool = pool;
    this.#failedOver = failedOver;
    this.#beginBlock = beginBlock;
  }

  chain(): Promise<ChainIdentity> {
    return this.#pool.askChain();
  }

  heads(): Promise<NodeHeads> {
    return this.#pool.lastHeads();
  }

  freshHeads(): Promise<NodeHeads> {
    return this.#pool.freshHeads();
  }

  get knownHeads(): NodeHeads | undefined {
    return this.#pool.knownHeads;
  }

  blockRef(blockNumber: number): Promise<BlockRef | undefined> {
    return this.#first(`block ${blockNumber}`, blockNumber, (traces) => traces.blockRef(blockNumber));
  }

  block(blockNumber: number): Promise<TracedBlock | undefined> {
    const span = this.#beginBlock?.(blockNumber);
    const ask = (traces: NodeTraces) => traces.block(blockNumber, span);
    const block = this.#first(`block ${blockNumber}`, blockNumber, ask);
    return span === undefined ? block : endWith(span, block);
  }

  transactionBlock(hash: Hash): Promise<number | undefined> {
    return this.#first('a transaction', undefined, (traces) => traces.transactionBlock(hash));
  }

  /** The first answer. Where no node gives one: undefined where a node has nothing, else the first failure. */
  async #first<T>(
    what: string,
    blockNumber: number | undefined,
    ask: (traces: NodeTraces) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    let failure: NodeError | undefined;
    let anyHasNothing = false;
    let oversized = 0;
    for (const node of this.#pool.inOrderFor(blockNumber)) {
      try {
        const value = await this.#pool.take(node, ask);
        // That one node has not come so far says nothing of the others.
        if (value !== undefined) return value;
        anyHasNothing = true;
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        failure ??= error;
        if (!this.#pool.isSingle) this.#failedOver(node, what, error);
        if (error.reason === 'oversized' && ++oversized === MAX_OVERSIZED_ANSWERS) break;
      }
    }
    if (anyHasNothing) return undefined;
    throw failure ?? new NodeError('unreachable', 'there is no node to ask');
  }
}
