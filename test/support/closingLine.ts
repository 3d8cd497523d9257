import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Prints what was skipped, with the reason where the test gave one, and the plain closing line that CI reads. */
export default class ClosingLine implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #skipped = new Set<string>();
  #broken = 0;

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state === 'pending') return;
    this.#counts[result.state]++;
    if (result.state === 'skipped')
      this.#skipped.add(result.note ? `${test.fullName}: ${result.note}` : test.fullName);
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    for (const module of modules) {
      // A hook that fails breaks its describe: vitest reports the tests in it as skipped.
      for (const part of [module, ...module.children.allSuites()])
        if (part.errors().length > 0) this.#broken++;
    }
    const failed = this.#counts.failed + this.#broken + errors.length;
    const { passed, skipped } = this.#counts;
    const lines = [...this.#skipped].map((name) => `skipped: ${name}`);
    lines.push(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}
