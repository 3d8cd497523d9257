import type { Span } from '../../platform/spans/index.ts';
import {
  type BlockFinder,
  type BlockRef,
  BlockTraceError,
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
import { type Round, TraceAttempts } from './traceAttempts.ts';

/** Maximum number of oversized responses to one request for a block. Nodes not asked are tried in a later request. */
const MAX_OVERSIZED_ANSWERS = 2;
/** Distances, in blocks, at which a node that fails to trace a block is tested with another block. */
const PROOF_DISTANCES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export interface ChainSource extends TraceProvider {
  /** Polls the nodes and returns their heads; `heads` returns the last known ones. */
  freshHeads(): Promise<NodeHeads>;
  /** Last known heads, even if no node answers now; undefined before the first poll. */
  readonly knownHeads: NodeHeads | undefined;
}

/** Starts the tracing span of a block fetch; undefined if it is not sampled. */
export type BeginBlock = (blockNumber: number) => Span | undefined;

/** Called when a node failed to return the requested data and another node is tried. */
export type OnFailover = (node: UpstreamNode, what: string, error: NodeError) => void;

export interface PooledSourceOptions {
  readonly onFailover?: OnFailover | undefined;
  readonly beginBlock?: BeginBlock | undefined;
  readonly nowMs?: () => number;
}

/** The nodes of a network as one source. If a node fails or lacks the data, the next node is tried. */
export class PooledSource implements ChainSource, TransactionFinder, BlockFinder {
  readonly #pool: NodePool;
  readonly #failedOver: OnFailover;
  readonly #beginBlock: BeginBlock | undefined;
  readonly #attempts: TraceAttempts;

  constructor(
    pool: NodePool,
    { onFailover = () => undefined, beginBlock, nowMs = () => performance.now() }: PooledSourceOptions = {},
  ) {
    this.#pool = pool;
    this.#failedOver = onFailover;
    this.#beginBlock = beginBlock;
    this.#attempts = new TraceAttempts(nowMs);
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

  /** Returns a block with its traces, or the reason that no node can trace it; undefined above the nodes' heads. */
  block(blockNumber: number): Promise<TracedBlock | undefined> {
    const span = this.#beginBlock?.(blockNumber);
    const block = this.#tracedBlock(blockNumber, span);
    return span === undefined ? block : endWith(span, block);
  }

  blockOfHash(hash: Hash): Promise<BlockRef | undefined> {
    return this.#first(`block ${hash}`, undefined, (traces) => traces.blockOfHash(hash));
  }

  transactionBlock(hash: Hash): Promise<number | undefined> {
    return this.#first('a transaction', undefined, (traces) => traces.transactionBlock(hash));
  }

  async #tracedBlock(blockNumber: number, span: Span | undefined): Promise<TracedBlock | undefined> {
    const trusted = this.#pool.ingestOrder(blockNumber);
    const notAsked = new Set(trusted);
    const failed = new Map<UpstreamNode, BlockTraceError>();
    const ask = async (traces: NodeTraces, node: UpstreamNode) => {
      const block = await traces.block(blockNumber, span);
      if (block === undefined) notAsked.delete(node);
      else {
        this.#attempts.forget(blockNumber);
        // Empty blocks prove nothing, because a node with a broken tracer returns them too.
        if (block.header.transactionHashes.length > 0) this.#attempts.traced(node, blockNumber);
      }
      return block;
    };
    const noted = (node: UpstreamNode, error: NodeError): void => {
      notAsked.delete(node);
      if (!(error instanceof BlockTraceError)) return;
      failed.set(node, error);
      this.#attempts.failed(node, error);
    };
    const verdict = () =>
      this.#verdict({
        blockNumber,
        failed: new Map(trusted.flatMap((node) => pairOf(failed, node))),
        notAsked: [...notAsked],
      });
    const nodes = this.#attempts.inOrder(blockNumber, trusted);
    try {
      const block = await this.#firstOf(nodes, { what: `block ${blockNumber}`, ask, failed: noted });
      return block ?? (await verdict());
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      const unavailable = await verdict();
      if (unavailable !== undefined) return unavailable;
      throw error;
    }
  }

  /** Returns the block as unavailable if no node can trace it; undefined while a node may still be able to. */
  async #verdict(round: Round): Promise<TracedBlock | undefined> {
    for (const node of this.#attempts.nodesToProbe(round)) await this.#prove(node, round.blockNumber);
    const verdict = this.#attempts.verdict(round);
    if (verdict === undefined) return undefined;
    this.#attempts.forget(round.blockNumber);
    return { header: verdict.header, traces: [], unavailable: verdict.failure };
  }

  /** Tests if a node that fails at a block can trace another block nearby. */
  async #prove(node: UpstreamNode, blockNumber: number): Promise<void> {
    const head = node.heads?.latest.number ?? blockNumber;
    const others = PROOF_DISTANCES.flatMap((distance) => [blockNumber - distance, blockNumber + distance]);
    for (const other of others.filter((number) => number > 0 && number <= head)) {
      const isTraced = await this.#pool
        .take(node, (traces) => traces.canTrace(other))
        .catch((error: unknown) => {
          if (!(error instanceof NodeError)) throw error;
          return false;
        });
      if (isTraced) return this.#attempts.traced(node, other);
    }
  }

  #first<T>(
    what: string,
    blockNumber: number | undefined,
    ask: (traces: NodeTraces) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    return this.#firstOf(this.#pool.ingestOrder(blockNumber), { what, ask });
  }

  /**
   * Returns the first result. If no node has one: undefined if a node reported that the data does not exist,
   * otherwise throws the first failure.
   */
  async #firstOf<T>(
    nodes: readonly UpstreamNode[],
    { what, ask, failed }: Asking<T>,
  ): Promise<T | undefined> {
    let failure: NodeError | undefined;
    let anyHasNothing = false;
    let oversized = 0;
    for (const node of nodes) {
      try {
        const value = await this.#pool.take(node, (traces) => ask(traces, node));
        // A node that does not have the data may be behind the others, so the next node is asked.
        if (value !== undefined) return value;
        anyHasNothing = true;
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        failure ??= error;
        failed?.(node, error);
        if (!this.#pool.isSingle) this.#failedOver(node, what, error);
        if (error.reason === 'oversized' && ++oversized === MAX_OVERSIZED_ANSWERS) break;
      }
    }
    if (anyHasNothing) return undefined;
    throw failure ?? new NodeError('unreachable', 'no node is available');
  }
}

interface Asking<T> {
  /** Name of the requested data, for logs. */
  readonly what: string;
  readonly ask: (traces: NodeTraces, node: UpstreamNode) => Promise<T | undefined>;
  readonly failed?: (node: UpstreamNode, error: NodeError) => void;
}

const pairOf = <K, V>(map: ReadonlyMap<K, V>, key: K): [K, V][] => {
  const value = map.get(key);
  return value === undefined ? [] : [[key, value]];
};
