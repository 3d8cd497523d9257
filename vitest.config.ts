import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { HANG_MS } from './test/support/hang.ts';

/** Beyond what the waits in a test take to give up: they say what they waited for. */
const TIMEOUTS = { testTimeout: 2 * HANG_MS, hookTimeout: 2 * HANG_MS };

export default defineConfig({
  test: {
    ...TIMEOUTS,
    expect: { poll: { timeout: HANG_MS } },
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/endWithVitest.ts'],
    // No test leaves anything to the next: a worker loads the modules once, a third less of the units' processor time.
    isolate: false,
    // Most tests wait for a server, or for a limit of its time, most of the time.
    maxWorkers: 2 * availableParallelism(),
    reporters: ['default', './test/support/closingLine.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'scripts/*.test.js'],
        },
      },
      {
        extends: true,
        test: { name: 'blackbox', include: ['test/**/*.test.ts'] },
      },
    ],
  },
});
