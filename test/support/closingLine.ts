import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Prints the skipped tests by reason, the failed tests, and the closing line that CI reads. */
export default class ClosingLine implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0 };
  readonly #skipped: TestCase[] = [];
  readonly #failed: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result();
    if (state === 'pending') return;
    this.#counts[state]++;
    if (state === 'skipped') this.#skipped.push(test);
    if (state === 'failed') this.#failed.push(test);
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    // A failing hook fails its describe block, and a file may fail to load: each counts as one failure.
    const parts = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const broken = parts.filter((part) => part.errors().length > 0).length;
    const failed = this.#counts.failed + broken + errors.length;
    // The failures are printed again here, because CI may keep only the end of a long log.
    const failures = this.#failed.map((test) => `failed: ${test.module.relativeModuleId} > ${test.fullName}`);
    print([...byReason(this.#skipped), ...failures, closingLine({ ...this.#counts, failed })]);
  }
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Returns the last line of a run, also if it fails before any test. */
export const closingLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

function byReason(tests: readonly TestCase[]): string[] {
  const names = new Map<string, string[]>();
  for (const test of tests) {
    const reason = reasonOf(test);
    names.set(reason, [...(names.get(reason) ?? []), test.fullName]);
  }
  return [...names].flatMap(([reason, skipped]) => [
    `${skipped.length} skipped, ${reason}:`,
    ...skipped.map((name) => `  ${name}`),
  ]);
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  if (result.state === 'skipped' && result.note !== undefined) return result.note;
  // Vitest also reports a test as skipped if a hook before it failed.
  for (let part = test.parent; part.type === 'suite'; part = part.parent)
    if (part.errors().length > 0) return 'because a hook before them failed';
  return test.module.errors().length > 0
    ? 'because a hook before them failed'
    : 'for the reason in their names';
}

const print = (lines: readonly string[]): void => {
  process.stdout.write(`\n${lines.join('\n')}\n`);
};
