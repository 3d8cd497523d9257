import type { Hash, MaybePromise, TraceReader } from '../../../traces/index.ts';

/** The lowest block of the contiguous blocks at the head of the local index. */
export interface RunStart {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
}

/** Returns the result of a read of an embedded index, which is not a promise. */
export function immediate<T>(result: MaybePromise<T>): T {
  if (result instanceof Promise) throw new TypeError('the local index must be an embedded one');
  return result;
}

/** Finds the contiguous blocks that end at the head of the local index. Other blocks of that index are not used. */
export class LocalRun {
  readonly #local: TraceReader;
  #start: RunStart | undefined;
  #isKnown = false;

  constructor(local: TraceReader) {
    this.#local = local;
  }

  /** The first block of the run; undefined if the local index is empty. */
  get start(): RunStart | undefined {
    if (!this.#isKnown) {
      this.#start = this.#find();
      this.#isKnown = true;
    }
    return this.#start;
  }

  /** To be called when the local index may have changed. */
  changed(): void {
    this.#isKnown = false;
  }

  #find(): RunStart | undefined {
    const head = immediate(this.#local.head())?.number;
    if (head === undefined) return undefined;
    const isRun = (from: number): boolean => immediate(this.#local.firstMissing(from, head)) === undefined;
    const known = this.#start?.number ?? head;
    let high = known <= head && isRun(known) ? known : head;
    for (let low = high > 0 && isRun(high - 1) ? 0 : high; low < high; ) {
      const middle = Math.floor((low + high) / 2);
      if (isRun(middle)) high = middle;
      else low = middle + 1;
    }
    const block = immediate(this.#local.block(high));
    return block && { number: block.number, hash: block.hash, parentHash: block.parentHash };
  }
}
