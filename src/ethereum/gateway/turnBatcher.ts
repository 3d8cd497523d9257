/** Refusals sent in one turn at least, at some 10 microseconds each. */
const MIN_REFUSALS_PER_TURN = 8;
/** And this share of those that wait, so that they never become many. */
const SHARE_OF_REFUSALS = 0.25;

/**
 * Sends answers together, at the end of the turn of the event loop in which they became ready: whoever reads them is woken
 * once and not for each, which costs as much as a small answer does. What refuses a request is sent after all that
 * answers one, a few each turn: a burst of refusals does not hold up those who get an answer.
 */
export class TurnBatcher {
  #answers: (() => void)[] = [];
  #refusals: (() => void)[] = [];
  #isDue = false;

  send(send: () => void, isRefusal: boolean): void {
    (isRefusal ? this.#refusals : this.#answers).push(send);
    this.#comeBack();
  }

  #comeBack(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#sendAll);
  }

  readonly #sendAll = (): void => {
    this.#isDue = false;
    const answers = this.#answers;
    this.#answers = [];
    for (const send of answers) send();
    const waiting = this.#refusals;
    const count = Math.max(MIN_REFUSALS_PER_TURN, Math.ceil(SHARE_OF_REFUSALS * waiting.length));
    this.#refusals = waiting.slice(count);
    for (const send of waiting.slice(0, count)) send();
    if (this.#refusals.length > 0) this.#comeBack();
  };
}
