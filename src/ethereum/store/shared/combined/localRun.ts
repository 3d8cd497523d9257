import { type Hash, immediate, type TraceReader } from '../../../traces/index.ts';
import type { KnownBlock } from '../reads/blocks.ts';

/** The lowest block of the contiguous blocks at the head of the local index. */
export interface RunStart {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
}

/** Returns the parent of the first local block, which is the last block of the shared part of a result. */
export const tipBelow = ({ number, parentHash }: RunStart): KnownBlock => ({
  number: number - 1,
  hash: parentHash,
});

/** Finds the contiguous blocks that end at the head of the local index. Other blocks of that index are not used. */
export class LocalRun {
  readonly #local: TraceReader;
  /** A number at which the run started before. */
  #known: number | undefined;
  /** Blocks below this number are being removed. */
  #removedTo = 0;

  constructor(local: TraceReader) {
    this.#local = local;
  }

  /** The first block of the run; undefined if the local index is empty. */
  get start(): RunStart | undefined {
    const head = immediate(this.#local.head())?.number;
    if (head === undefined || head < this.#removedTo) return undefined;
    const isRun = (from: number): boolean => immediate(this.#local.firstMissing(from, head)) === undefined;
    const known = Math.min(this.#known ?? head, head);
    let high = isRun(known) ? known : head;
    for (let low = high > 0 && isRun(high - 1) ? 0 : high; low < high; ) {
      const middle = Math.floor((low + high) / 2);
      if (isRun(middle)) high = middle;
      else low = middle + 1;
    }
    this.#known = high;
    const block = immediate(this.#local.block(Math.max(high, this.#removedTo)));
    return block && { number: block.number, hash: block.hash, parentHash: block.parentHash };
  }

  /** To be called before blocks are removed. Blocks below `number` are not part of the run from now on. */
  removing(number: number): void {
    this.#removedTo = number;
  }
}
