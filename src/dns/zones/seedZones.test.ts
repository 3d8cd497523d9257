import { afterEach, expect, it, vi } from 'vitest';
import { QUIET } from '../../platform/logging/index.ts';
import { AttackDetector } from '../detector/index.ts';
import { seedZones, type ZoneSource } from './seedZones.ts';

const KEY = { high: 1, low: 2 };

afterEach(() => vi.restoreAllMocks());

/** Tries to read each zone once, and returns the delays of all timers, including the timer of the next check. */
async function delaysOf(sources: readonly ZoneSource[]): Promise<unknown[]> {
  const timers = vi.spyOn(globalThis, 'setTimeout');
  const detector = new AttackDetector(KEY, { profile: { maxNames: 1000 } }, Date.now());
  const seeding = seedZones(sources, { detector, log: QUIET });
  seeding.start();
  await seeding.tried;
  seeding.stop();
  return timers.mock.calls.splice(0).map(([, ms]) => ms);
}

it('a server is checked at most a hundred times a second, because each check uses a port for a minute', async () => {
  const names = Array.from({ length: 700 }, (_, n) => `zone${n}.test`);
  // No server listens on this port.
  const transferFrom = { host: '127.0.0.1', port: 1 };
  const transferred = names.map((name) => ({ name, transferFrom }));
  const many = await delaysOf(transferred);
  expect(many).toContain(7000);
  expect(many).not.toContain(2000);
  expect(await delaysOf(transferred.slice(0, 10))).toContain(2000);
  expect(await delaysOf(names.map((name) => ({ name, file: '/nowhere' })))).toContain(2000);
});
