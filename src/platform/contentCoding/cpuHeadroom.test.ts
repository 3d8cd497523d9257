import { expect, it } from 'vitest';
import { CpuHeadroom, type Usage } from './cpuHeadroom.ts';

/** Results of measurements half a second apart, with the given use in each interval. */
function after(steps: readonly Partial<Usage>[]): boolean[] {
  let now: Usage = { atMs: performance.now() - 3_600_000, activeMs: 0, cpuMs: 0 };
  const spare = new CpuHeadroom({ processors: 2, usage: () => now });
  return steps.map(({ activeMs = 0, cpuMs = 0 }) => {
    now = { atMs: now.atMs + 500, activeMs: now.activeMs + activeMs, cpuMs: now.cpuMs + cpuMs };
    return spare.isAvailable;
  });
}

it('CPU time is available while neither the main thread nor all cores are busy', () => {
  expect(
    after([
      {},
      { activeMs: 340, cpuMs: 340 },
      { activeMs: 360, cpuMs: 360 },
      { activeMs: 10, cpuMs: 10 },
      // Other threads: a flood of DNS packets.
      { activeMs: 10, cpuMs: 800 },
      { activeMs: 10, cpuMs: 600 },
    ]),
  ).toEqual([true, true, false, true, false, true]);
});

it('CPU use is measured at most twice per second', () => {
  let looks = 0;
  const usage = (): Usage => {
    looks++;
    return { atMs: performance.now(), activeMs: 1e9 * looks, cpuMs: 0 };
  };
  const spare = new CpuHeadroom({ usage });
  for (let i = 0; i < 1_000; i++) spare.isAvailable;
  expect(looks).toBeLessThanOrEqual(3);
});
