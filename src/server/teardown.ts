type Step = () => Promise<void> | void;

/** Runs the closing steps of opened resources, last opened first. */
export class Teardown {
  readonly #steps: Step[] = [];

  add(step: Step): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step();
  }
}
