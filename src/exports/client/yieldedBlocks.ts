import type { Trace } from './types.ts';

interface KnownBlock {
  readonly number: number;
  readonly hash: string;
  readonly traces: Trace[];
}

/** Traces of this number of newest blocks are kept, so that a reorg can yield them again as removed. */
const REMEMBERED_BLOCKS = 256;
/** Maximum number of yielded traces in memory, at about 1 kB each. */
const REMEMBERED_TRACES = 50_000;

/** Yielded traces of the newest blocks. */
export class YieldedBlocks {
  readonly #blocks: KnownBlock[] = [];
  #traces = 0;
  #hasEvicted = false;

  get newest(): KnownBlock | undefined {
    return this.#blocks.at(-1);
  }

  /** Whether yielded blocks were dropped from memory. */
  get hasEvicted(): boolean {
    return this.#hasEvicted;
  }

  /** Adds a yielded trace. It must belong to the newest block or a higher block. */
  add(trace: Trace): void {
    const { blockNumber: number, blockHash: hash } = trace;
    if (this.newest?.hash === hash) this.newest.traces.push(trace);
    else this.#blocks.push({ number, hash, traces: [trace] });
    this.#traces++;
    this.#forget(number);
  }

  /** Removes the newest block after a reorg. Returns its yielded traces, last first. */
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
