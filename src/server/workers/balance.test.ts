import { describe, expect, it } from 'vitest';
import { Random } from '../../../test/support/random.ts';
import { sharesToShed } from './balance.ts';

describe('how workers are balanced', () => {
  it.each([
    ['as many have as much to do', [0.9, 0.9], [0, 0]],
    ['none has much to do', [0.2, 0], [0, 0]],
    ['the difference is what chance makes', [0.9, 0.7, 0.8], [0, 0, 0]],
    ['there is one', [1], [0]],
  ])('nobody lets go of a client where %s', (_what, busy, shares) => {
    expect(sharesToShed(busy)).toEqual(shares);
  });

  it('one that has all of them lets go of half, also where there are many workers', () => {
    expect(sharesToShed([1, 0])).toEqual([0.5, 0]);
    expect(sharesToShed([0, 0.6])).toEqual([0, 0.5]);
    expect(sharesToShed([1, ...Array<number>(15).fill(0)])[0]).toBe(0.5);
  });

  it('only those above the others let go, and never all', () => {
    expect(sharesToShed([1, 0.9, 0.2]).map((share) => share > 0)).toEqual([true, true, false]);
    const random = new Random(3);
    for (let time = 0; time < 1_000; time++) {
      const busy = Array.from({ length: 2 + random.below(15) }, () => random.next());
      const mean = busy.reduce((sum, one) => sum + one) / busy.length;
      for (const [i, share] of sharesToShed(busy).entries()) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(0.5);
        if (share > 0) expect(busy[i]).toBeGreaterThan(mean);
      }
    }
  });

  it('workers come to the same after a few looks, wherever their clients went first', () => {
    const random = new Random(11);
    for (let time = 0; time < 100; time++) {
      const workers = 2 + random.below(7);
      const clients = 16 * workers;
      const has = new Map(Array.from({ length: workers }, (_, worker) => [worker, 0]));
      const move = (worker: number, by: number) => has.set(worker, (has.get(worker) ?? 0) + by);
      /** What each has to do. They go to whoever is awake first, then to one that waits. */
      const busy = () => [...has.values()].map((count) => Math.min(1, (0.8 * count) / 16));
      for (let n = 0; n < clients; n++) move(time % 2 === 0 ? 0 : random.below(workers), 1);
      for (let look = 0; look < 12; look++)
        for (const [worker, share] of sharesToShed(busy()).entries())
          for (let n = Math.floor((has.get(worker) ?? 0) * share); n > 0; n--) {
            move(worker, -1);
            move(busy().indexOf(Math.min(...busy())), 1);
          }
      expect(Math.max(...busy()) - Math.min(...busy())).toBeLessThanOrEqual(0.5);
    }
  });
});
