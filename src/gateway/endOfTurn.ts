/**
 * Sends answers together, at the end of the turn of the event loop in which they became ready: whoever reads them is woken
 * once and not for each, which costs as much as a small answer does. What refuses a request is sent after all that
 * answers one.
 */
export class EndOfTurn {
  #answers: (() => void)[] = [];
  #refusals: (() => void)[] = [];

  send(send: () => void, isRefusal: boolean): void {
    if (this.#answers.length + this.#refusals.length === 0) setImmediate(this.#sendAll);
    (isRefusal ? this.#refusals : this.#answers).push(send);
  }

  readonly #sendAll = (): void => {
    const [answers, refusals] = [this.#answers, this.#refusals];
    this.#answers = [];
    this.#refusals = [];
    for (const send of answers) send();
    for (const send of refusals) send();
  };
}
