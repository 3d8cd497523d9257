/** Whether a zone serves names that are made for one use: then the profile says nothing of it. */

/** A name server sees 20 % of its positive answers for new names at most, or it serves such names. */
const ONCE_ONLY_SHARE = 0.5;
const NOT_ONCE_ONLY_SHARE = 0.3;
const MIN_ANSWERS = 1000;
/** The newest of so many answers count, about. */
const MEMORY = 10_000;

export class OnceOnly {
  /** Answers for names that exist, and those of them for names that nobody had asked for before. */
  answers = 0;
  first = 0;
  #is = false;

  get is(): boolean {
    return this.#is;
  }

  note(first: boolean): void {
    this.answers++;
    if (first) this.first++;
  }

  /** Decides anew, where enough was seen. */
  update(): void {
    if (this.answers > MEMORY) {
      this.answers /= 2;
      this.first /= 2;
    }
    if (this.answers < MIN_ANSWERS) return;
    const share = this.first / this.answers;
    if (share > ONCE_ONLY_SHARE) this.#is = true;
    else if (share < NOT_ONCE_ONLY_SHARE) this.#is = false;
  }
}
