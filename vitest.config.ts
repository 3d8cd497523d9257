import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { HANG_MS } from './test/support/hang.ts';

/** Beyond what the waits in a test take to give up: they say what they waited for. */
const TIMEOUTS = { testTimeout: 2 * HANG_MS, hookTimeout: 2 * HANG_MS };

export default defineConfig({
  test: {
    ...TIMEOUTS,
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/endWithVitest.ts'],
    // vitest leaves one core of two idle; most tests wait for a server most of the time.
    maxWorkers: Math.max(2, availableParallelism()),
    reporters: ['default', './test/support/closingLine.ts'],
    projects: [
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
      {
        extends: true,
        test: { name: 'blackbox', include: ['test/**/*.test.ts'] },
      },
    ],
  },
});
