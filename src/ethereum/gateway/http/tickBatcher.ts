/**
 * Sends the responses of one event loop tick together at the end of the tick. The process that receives them then
 * wakes up once instead of once per response. A wake-up costs as much as a small response.
 */
export class TickBatcher {
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
