/** Requests for blocks under way at the same time, to begin with: enough to hide a node's latency, few enough not to press it. */
const START = 4;
/** More hide no latency any more and only wait in the node's own queue; what is fetched is held in memory besides. */
const MOST = 32;

/** How many blocks are asked for at a time: slowly more while a node answers, half as many as soon as it does not. */
export class Pace {
  readonly #most: number;
  #limit: number;
  #answersSinceChange = 0;

  constructor(start = START, most = MOST) {
    this.#limit = start;
    this.#most = most;
  }

  get limit(): number {
    return this.#limit;
  }

  /** A block came. One more is asked for after as many answers as are under way together, twice. */
  answered(): void {
    if (++this.#answersSinceChange < 2 * this.#limit) return;
    this.#answersSinceChange = 0;
    this.#limit = Math.min(this.#most, this.#limit + 1);
  }

  /** The node timed out, refused or was not there. */
  failed(): void {
    this.#answersSinceChange = 0;
    this.#limit = Math.max(1, Math.floor(this.#limit / 2));
  }
}

/** The pace beside which other work goes on: it never asks for more. */
export const steadyPace = (): Pace => new Pace(START, START);
