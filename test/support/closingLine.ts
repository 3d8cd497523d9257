import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Prints what was skipped, by the reason that the tests gave, and the plain closing line that CI reads. */
export default class ClosingLine implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #skipped = new Map<string, string[]>();

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state === 'pending') return;
    this.#counts[result.state]++;
    if (result.state !== 'skipped') return;
    const reason = result.note ?? 'as their names say';
    const names = this.#skipped.get(reason);
    if (names === undefined) this.#skipped.set(reason, [test.fullName]);
    else names.push(test.fullName);
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    // A hook that fails breaks its describe: vitest reports the tests in it as skipped. A file may not load at all.
    const parts = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = parts.filter((part) => part.errors().length > 0).length;
    const { passed, skipped } = this.#counts;
    const failed = this.#counts.failed + broken + errors.length;
    const lines = [...this.#skipped].flatMap(([reason, names]) => [
      `${names.length} skipped, ${reason}:`,
      ...names.map((name) => `  ${name}`),
    ]);
    lines.push(`${passed} passed, ${failed} failed, ${skipped} skipped`);
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}
