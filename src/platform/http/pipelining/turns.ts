/** Work that can wait takes this long in a turn of the event loop at most, or one step where that takes longer. */
const SLICE_MS = 0.5;

/** Who rests waits so long: what has come for it meanwhile is then read at once, which takes the processor once and not often. */
const REST_MS = 20;

/** What takes its turns: `step` does a small piece of its work. */
export interface Stepping {
  step(): void;
}

/** What is told that it has rested. */
export interface Resting {
  goOn(): void;
}

/** Lets work that can wait go on in slices, each in turn, after all else that a turn of the event loop has brought. */
export class Turns {
  readonly #waiting = new Set<Stepping>();
  #isDue = false;
  #resting: Resting[] = [];

  /** Asks for one step. */
  add(work: Stepping): void {
    this.#waiting.add(work);
    this.#comeBack();
  }

  delete(work: Stepping): void {
    this.#waiting.delete(work);
  }

  /** Goes on in some milliseconds, together with all who rest. */
  rest(work: Resting): void {
    if (this.#resting.push(work) === 1) setTimeout(this.#wake, REST_MS);
  }

  #comeBack(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#run);
  }

  readonly #wake = (): void => {
    const rested = this.#resting;
    this.#resting = [];
    for (const work of rested) work.goOn();
  };

  readonly #run = (): void => {
    this.#isDue = false;
    const endMs = performance.now() + SLICE_MS;
    // Who asks again meanwhile comes behind the others.
    for (const work of this.#waiting) {
      this.#waiting.delete(work);
      work.step();
      if (performance.now() >= endMs) break;
    }
    if (this.#waiting.size > 0) this.#comeBack();
  };
}
