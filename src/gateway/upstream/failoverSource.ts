import {
  type BlockRef,
  type ChainIdentity,
  NodeError,
  type NodeHeads,
  type TracedBlock,
  type TraceSource,
} from '../../traces/index.ts';

/** A source of one node, with whether that node is well now. */
export interface RankedSource {
  readonly source: TraceSource;
  readonly isGood: () => boolean;
}

/** Blocks and traces of whichever of several nodes has them: the first that is well is asked first. */
export class FailoverSource implements TraceSource {
  readonly #sources: readonly RankedSource[];

  constructor(sources: readonly RankedSource[]) {
    this.#sources = sources;
  }

  chain(): Promise<ChainIdentity> {
    return this.#first((source) => source.chain());
  }

  heads(): Promise<NodeHeads> {
    return this.#first((source) => source.heads());
  }

  blockRef(blockNumber: number): Promise<BlockRef | undefined> {
    return this.#first((source) => source.blockRef(blockNumber));
  }

  block(blockNumber: number): Promise<TracedBlock | undefined> {
    return this.#first((source) => source.block(blockNumber));
  }

  /** The first answer; where no node gives one, the first node's failure. */
  async #first<T>(ask: (source: TraceSource) => Promise<T>): Promise<T> {
    const ranked = [...this.#sources].sort((a, b) => Number(b.isGood()) - Number(a.isGood()));
    let failure: unknown;
    let nothing: { readonly value: T } | undefined;
    for (const { source } of ranked) {
      try {
        const value = await ask(source);
        // That one node has not come so far says nothing of the others.
        if (value !== undefined) return value;
        nothing = { value };
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        failure ??= error;
      }
    }
    if (nothing !== undefined) return nothing.value;
    throw failure ?? new NodeError('unreachable', 'there is no node to ask');
  }
}
