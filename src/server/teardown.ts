type Step = () => Promise<void> | void;

/** Runs the steps that close opened resources. The resource that was opened last is closed first. */
export class Teardown {
  readonly #steps: Step[] = [];

  add(step: Step): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) await step();
  }
}
