import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { SLOW } from './test/slow.ts';
import { HANG_MS } from './test/support/hang.ts';

/** Longer than the waits in tests, whose errors name the awaited event. */
const TIMEOUTS = { testTimeout: 2 * HANG_MS, hookTimeout: 2 * HANG_MS };

export default defineConfig({
  test: {
    ...TIMEOUTS,
    expect: { poll: { timeout: HANG_MS } },
    globalSetup: ['test/support/build.ts'],
    setupFiles: ['test/support/endWithVitest.ts'],
    // Tests restore global state, so a worker loads the modules once. This saves a third of the time of the unit tests.
    isolate: false,
    // Most tests spend their time waiting for a server or a timeout.
    maxWorkers: 2 * availableParallelism(),
    reporters: ['default', './test/support/closingLine.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'scripts/**/*.test.js'],
        },
      },
      {
        extends: true,
        test: {
          name: 'blackbox',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SLOW],
        },
      },
      {
        extends: true,
        test: { name: 'slow', include: [...SLOW] },
      },
    ],
  },
});
