import type { BlockTraceError, UpstreamNode } from '../nodes/index.ts';
import type { BlockHeader, Hash, TraceFailure } from '../traces/index.ts';

/** Number of failures, over at least `MIN_SPAN_MS`, after which a node counts as unable to trace a block. */
const MIN_ATTEMPTS = 3;
const MIN_SPAN_MS = 60_000;
/** Maximum pause between two attempts that count together. Failures further apart may have separate causes. */
const MAX_PAUSE_MS = 600_000;
/**
 * Maximum distance of another block that a node must have traced, so that its failure at a block counts. If a node
 * lacks the states of a whole range, it fails at all blocks of the range, which proves nothing about any of them.
 */
const NEAR_BLOCKS = 256;
/** Maximum number of blocks with failed attempts that are remembered. The oldest is evicted first. */
const MAX_BLOCKS = 256;

interface NodeAttempts {
  readonly firstMs: number;
  lastMs: number;
  attempts: number;
  failure: TraceFailure;
  isSettled: boolean;
  /** True if the node has traced another block nearby since the first attempt. */
  hasTracedAnother: boolean;
}

/** Attempts of the nodes at one height, by block hash, because nodes may have different blocks at this height. */
type FailingBlock = Map<Hash, Map<UpstreamNode, NodeAttempts>>;

/** Results of one round, in which the nodes were asked for the traces of one block. */
export interface Round {
  readonly blockNumber: number;
  /** Nodes that have the block and failed to trace it, most trusted first. */
  readonly failed: ReadonlyMap<UpstreamNode, BlockTraceError>;
  readonly notAsked: readonly UpstreamNode[];
}

export interface Verdict {
  readonly header: BlockHeader;
  readonly failure: TraceFailure;
}

/** Decides if a block is unavailable: all nodes that have it fail repeatedly, and one can trace another nearby. */
export class TraceAttempts {
  readonly #blocks = new Map<number, FailingBlock>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Returns the nodes in the order in which they are tried: nodes that cannot trace the block come last. */
  inOrder(blockNumber: number, nodes: readonly UpstreamNode[]): readonly UpstreamNode[] {
    const isSettled = (node: UpstreamNode): number => Number(this.#isSettled(blockNumber, node));
    return [...nodes].sort((a, b) => isSettled(a) - isSettled(b));
  }

  traced(node: UpstreamNode, blockNumber: number): void {
    for (const [number, block] of this.#blocks) {
      if (Math.abs(number - blockNumber) > NEAR_BLOCKS) continue;
      for (const nodes of block.values()) {
        const counted = nodes.get(node);
        if (counted !== undefined) counted.hasTracedAnother = true;
      }
    }
  }

  failed(node: UpstreamNode, { header, failure }: BlockTraceError): void {
    const block = this.#blockOf(header.number);
    const nodes = block.get(header.hash) ?? new Map<UpstreamNode, NodeAttempts>();
    block.set(header.hash, nodes);
    const nowMs = this.#nowMs();
    const before = nodes.get(node);
    const goesOn = before !== undefined && nowMs - before.lastMs <= MAX_PAUSE_MS;
    const counted = goesOn
      ? before
      : { firstMs: nowMs, lastMs: nowMs, attempts: 0, failure, isSettled: false, hasTracedAnother: false };
    nodes.set(node, counted);
    counted.attempts++;
    counted.lastMs = nowMs;
    counted.failure = failure;
    counted.isSettled = counted.attempts >= MIN_ATTEMPTS && nowMs - counted.firstMs >= MIN_SPAN_MS;
  }

  /** Returns the nodes that failed often enough at the block, but have not traced another block nearby since. */
  nodesToProbe({ blockNumber, failed }: Round): UpstreamNode[] {
    const nodes = this.#nodesOf(blockNumber, failed);
    return [...failed.keys()].filter((node) => {
      const counted = nodes?.get(node);
      return counted?.isSettled === true && !counted.hasTracedAnother;
    });
  }

  /** Returns why no node can trace the block; undefined while a node may still be able to trace it. */
  verdict({ blockNumber, failed, notAsked }: Round): Verdict | undefined {
    const [trusted] = failed.values();
    const nodes = this.#nodesOf(blockNumber, failed);
    if (trusted === undefined || nodes === undefined) return undefined;
    if (notAsked.some((node) => !this.#isSettled(blockNumber, node))) return undefined;
    const counted = [...failed.keys()].flatMap((node) => nodes.get(node) ?? []);
    if (!counted.every(({ isSettled }) => isSettled)) return undefined;
    const failure = counted.find(({ hasTracedAnother }) => hasTracedAnother)?.failure;
    return failure && { header: trusted.header, failure };
  }

  forget(blockNumber: number): void {
    this.#blocks.delete(blockNumber);
  }

  /** Returns the attempts at the block, by node. If nodes have different blocks, the most trusted node decides. */
  #nodesOf(blockNumber: number, failed: Round['failed']): Map<UpstreamNode, NodeAttempts> | undefined {
    const [trusted] = failed.values();
    return trusted && this.#blocks.get(blockNumber)?.get(trusted.header.hash);
  }

  #isSettled(blockNumber: number, node: UpstreamNode): boolean {
    const failing = this.#blocks.get(blockNumber)?.values() ?? [];
    return [...failing].some((nodes) => nodes.get(node)?.isSettled === true);
  }

  #blockOf(blockNumber: number): FailingBlock {
    const known = this.#blocks.get(blockNumber);
    if (known !== undefined) return known;
    const [oldest] = this.#blocks.keys();
    if (oldest !== undefined && this.#blocks.size >= MAX_BLOCKS) this.#blocks.delete(oldest);
    const block: FailingBlock = new Map();
    this.#blocks.set(blockNumber, block);
    return block;
  }
}
