import { closeSync, openSync } from 'node:fs';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { collectProcessMetrics, openDescriptors } from './processMetrics.ts';

const MANY = 200;

/** On old kernels, the folder of the descriptors has the size 0. */
const sizes = { 'new kernels': undefined, 'old kernels': () => Promise.resolve(0) };

it.runIf(process.platform === 'linux').each(['new kernels', 'old kernels'] as const)(
  'open descriptors are counted on %s',
  async (kernels) => {
    const sizeOf = sizes[kernels];
    const before = await openDescriptors(sizeOf);
    const opened = Array.from({ length: MANY }, () => openSync('/dev/null', 'r'));
    const during = await openDescriptors(sizeOf);
    for (const descriptor of opened) closeSync(descriptor);
    // Other tests of this process may open and close a few at the same time.
    expect(Math.abs(during - before - MANY)).toBeLessThan(MANY / 4);
  },
);

it('no metric lists all handles of the process', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  const text = await registry.metrics();
  expect(text).not.toContain('nodejs_active');
  for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds', 'process_max_fds'])
    expect(text).toContain(name);
  if (process.platform === 'linux') expect(text).toMatch(/^process_open_fds [1-9]\d*$/m);
});
