/**
 * Turns of the event loop for what takes longer than one: whoever waits has one to itself, one after the other, so that many
 * hold the thread no longer at a time than one does.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn that nobody else is given. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#give);
    });
  }

  readonly #give = (): void => {
    this.#waiting.shift()?.();
    // Else the first to wait again asks for the next one.
    if (this.#waiting.length > 0) setImmediate(this.#give);
  };
}
