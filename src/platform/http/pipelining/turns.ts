/** Work that can wait takes this long in a turn of the event loop at most, or one step where that takes longer. */
const SLICE_MS = 0.5;

/** What takes its turns: `step` does a small piece of its work. */
export interface Stepping {
  step(): void;
}

/** Lets work that can wait go on in slices, each in turn, after all else that a turn of the event loop has brought. */
export class Turns {
  readonly #waiting = new Set<Stepping>();
  #isDue = false;

  /** Asks for one step. */
  add(work: Stepping): void {
    this.#waiting.add(work);
    this.#comeBack();
  }

  delete(work: Stepping): void {
    this.#waiting.delete(work);
  }

  #comeBack(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#run);
  }

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
