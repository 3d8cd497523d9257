import type { Trace } from './types.ts';

interface KnownBlock {
  readonly number: number;
  readonly hash: string;
  /** What was told of it, in its order. */
  readonly traces: Trace[];
}

/** So far below the newest block with a trace those that were told are remembered, to be taken back. */
const REMEMBERED_BLOCKS = 256;
/** And so many traces at most, at about a kilobyte each. */
const REMEMBERED_TRACES = 50_000;

/** What was told of the newest blocks. */
export class KnownBlocks {
  readonly #blocks: KnownBlock[] = [];
  #traces = 0;
  #hasForgotten = false;

  get newest(): KnownBlock | undefined {
    return this.#blocks.at(-1);
  }

  /** Whether blocks were told of that are not remembered any more. */
  get hasForgotten(): boolean {
    return this.#hasForgotten;
  }

  /** A trace was told: of the newest block, or of one above it. */
  add(trace: Trace): void {
    const { blockNumber: number, blockHash: hash } = trace;
    if (this.newest?.hash === hash) this.newest.traces.push(trace);
    else this.#blocks.push({ number, hash, traces: [trace] });
    this.#traces++;
    this.#forget(number);
  }

  /** The newest block was replaced: what was told of it, the last first. */
  takeBack(): readonly Trace[] {
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
      this.#hasForgotten = true;
    }
  }
}
