/**
 * Sends answers together, at the end of the turn of the event loop in which they became ready: whoever reads them is woken
 * once and not for each, which costs as much as a small answer does.
 */
export class TurnBatcher {
  #answers: (() => void)[] = [];

  send(send: () => void): void {
    this.#answers.push(send);
    if (this.#answers.length === 1) setImmediate(this.#sendAll);
  }

  readonly #sendAll = (): void => {
    const answers = this.#answers;
    this.#answers = [];
    for (const send of answers) send();
  };
}
