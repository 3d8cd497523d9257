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
import type { ChainIdentity, Data, Hash } from '../traces/index.ts';
import { type Round, TraceAttempts } from './traceAttempts.ts';

/** Maximum number of nodes whose responses to one request are too large. Later requests try the remaining nodes. */
const MAX_OVERSIZED_ANSWERS = 2;
/** Distances in blocks: if a node fails to trace a block, it is tested with the blocks at these distances. */
const PROOF_DISTANCES = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export interface ChainSource extends TraceProvider {
  /** Polls the nodes and returns the heads. In contrast, `heads` returns the heads of the last polls. */
  freshHeads(): Promise<NodeHeads>;
  /** Heads of the last successful polls, even if no node answers now; undefined before the first one. */
  readonly knownHeads: NodeHeads | undefined;
}

/** Starts the span of a request for a block; undefined if the request is not sampled. */
export type BeginBlock = (blockNumber: number) => Span | undefined;

/** Called if a node fails to return the requested data, so that the next node is tried. */
type OnFailover = (node: UpstreamNode, what: string, error: NodeError) => void;

export interface PooledSourceOptions {
  readonly onFailover?: OnFailover | undefined;
  readonly beginBlock?: BeginBlock | undefined;
  readonly nowMs?: () => number;
}

/** The nodes of a network as one source of blocks. If a node fails or does not have the data, tries the next node. */
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

  /** Returns a block with its traces, or why no node can trace it; undefined if it is above the nodes' heads. */
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

  async revertOutput(hash: Hash): Promise<Data> {
    const output = await this.#first('revert data', undefined, (traces) => traces.revertOutput(hash));
    if (output === undefined) throw new NodeError('refused', 'no node returned the revert data');
    return output;
  }

  async #tracedBlock(blockNumber: number, span: Span | undefined): Promise<TracedBlock | undefined> {
    const trusted = this.#pool.ingestOrder(blockNumber);
    const notAsked = new Set(trusted);
    const failed = new Map<UpstreamNode, BlockTraceError>();
    let withoutFrames: TracedBlock | undefined;
    const accepted = (block: TracedBlock | undefined, node: UpstreamNode) => {
      if (block === undefined) notAsked.delete(node);
      else if (block.lacksFrames === true) {
        withoutFrames ??= block;
        return undefined;
      } else {
        this.#attempts.forget(blockNumber);
        // An empty block proves nothing, because a node with a broken tracer returns empty blocks too.
        if (block.header.transactionHashes.length > 0) this.#attempts.traced(node, blockNumber);
      }
      return block;
    };
    const ask = async (traces: NodeTraces, node: UpstreamNode) => {
      const block = await traces.block(blockNumber, span);
      if (block !== undefined) await this.#checkFork(block, node, trusted[0]);
      return accepted(block, node);
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
    let failure: NodeError | undefined;
    const first = await this.#firstOf(nodes, { what: `block ${blockNumber}`, ask, failed: noted }).catch(
      (error: unknown) => {
        if (!(error instanceof NodeError)) throw error;
        failure = error;
      },
    );
    const byOtherMethod = async () => {
      for (const [node, { failure, header }] of failed) {
        // A node that returned wrong traces is not trusted with other ones.
        if (failure === 'oversized' || failure === 'invalid' || header.transactionHashes.length === 0)
          continue;
        const block = accepted(await this.#byOtherMethod(node, blockNumber, span), node) ?? withoutFrames;
        if (block !== undefined) return block;
      }
      return undefined;
    };
    const block = first ?? withoutFrames ?? (await byOtherMethod()) ?? (await verdict());
    if (block === undefined && failure !== undefined) throw failure;
    return block;
  }

  /**
   * Throws NodeError if the most trusted node has another block at this height. Only nodes whose head is not known to
   * be on the chain can be on another fork: those that lag far.
   */
  async #checkFork(
    { header: { number, hash } }: TracedBlock,
    node: UpstreamNode,
    trusted: UpstreamNode | undefined,
  ): Promise<void> {
    const head = node.heads?.latest;
    const isKnown = head !== undefined && this.#pool.heads.hashOf(head.number) === head.hash;
    if (isKnown || trusted === undefined || trusted === node) return;
    const known = await this.#pool
      .take(trusted, (traces) => traces.blockRef(number))
      .catch((error: unknown) => {
        if (!(error instanceof NodeError)) throw error;
        return undefined;
      });
    if (known === undefined || known.hash === hash) return;
    const [host, other] = [node.client.host, trusted.client.host];
    throw new NodeError(
      'nonsense',
      `${host} is on another fork: block ${number} is ${hash}, not as at ${other}`,
    );
  }

  /** Asks a node that failed to trace a block for the block by its other trace methods. */
  async #byOtherMethod(
    node: UpstreamNode,
    blockNumber: number,
    span: Span | undefined,
  ): Promise<TracedBlock | undefined> {
    try {
      return await this.#pool.take(node, (traces) => traces.blockByOtherMethod(blockNumber, span));
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return undefined;
    }
  }

  /** Returns the block as unavailable if no node can trace it; undefined while a node may still trace it. */
  async #verdict(round: Round): Promise<TracedBlock | undefined> {
    for (const node of this.#attempts.nodesToProbe(round)) await this.#prove(node, round.blockNumber);
    const verdict = this.#attempts.verdict(round);
    if (verdict === undefined) return undefined;
    this.#attempts.forget(round.blockNumber);
    return { header: verdict.header, traces: [], unavailable: verdict.failure };
  }

  /** Tests if a node that fails to trace a block can trace another block nearby, and records if it can. */
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
   * Returns the first result of a node. If no node has the data, returns undefined if at least one node responded
   * that the data does not exist, otherwise throws the first failure.
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
        // A node without the data may lag behind the other nodes, so the next node is asked.
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
