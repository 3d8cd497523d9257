import type { Trace } from './types.ts';

interface KnownBlock {
  readonly number: number;
  readonly hash: string;
  readonly traces: Trace[];
}

/** Number of newest blocks whose yielded traces are kept, because a reorg may remove them. */
const REMEMBERED_BLOCKS = 256;
/** Maximum number of yielded traces that are kept. One needs about 1 kB of memory. */
const REMEMBERED_TRACES = 50_000;

/** The traces that a subscription has yielded of the newest blocks. */
export class YieldedBlocks {
  readonly #blocks: KnownBlock[] = [];
  #traces = 0;
  #hasEvicted = false;

  get newest(): KnownBlock | undefined {
    return this.#blocks.at(-1);
  }

  /** Whether the traces of at least one yielded block are no longer kept. */
  get hasEvicted(): boolean {
    return this.#hasEvicted;
  }

  /** Adds a yielded trace, which must belong to the newest kept block or to a higher block. */
  add(trace: Trace): void {
    const { blockNumber: number, blockHash: hash } = trace;
    if (this.newest?.hash === hash) this.newest.traces.push(trace);
    else this.#blocks.push({ number, hash, traces: [trace] });
    this.#traces++;
    this.#forget(number);
  }

  /** Removes the newest kept block after a reorg. Returns the traces that were yielded of it, the last one first. */
  removeNewest(): readonly Trace[] {
    const traces = this.#blocks.pop()?.traces.toReversed() ?? [];
    this.#traces -= traces.length;
    return traces;
  }

  #forget(newest: number): void {
    for (
      let oldest = this.#blocks[0];
      oldest !== undefined && this.#blocks.length > 1;
      oldest = this.#blocks[0]
    ) {
      const isNear = oldest.number > newest - REMEMBERED_BLOCKS;
      if (isNear && this.#traces <= REMEMBERED_TRACES) return;
      this.#blocks.shift();
      this.#traces -= oldest.traces.length;
      this.#hasEvicted = true;
    }
  }
}
