import { expect, it } from 'vitest';
import { ZoneSlots } from './zoneSlots.ts';

/** Requests a slot for each of these servers. `given` lists the granted ones in order. */
function asking(slots: ZoneSlots, servers: readonly string[]) {
  const given: string[] = [];
  const releases: (() => void)[] = [];
  for (const server of servers)
    void slots.take(server).then((release) => {
      given.push(server);
      releases.push(release);
    });
  return { given, releases, settle: () => new Promise((resolve) => setImmediate(resolve)) };
}

it('ten zones are read at a time, four per server, and the others wait in order', async () => {
  const servers = [...Array(6).fill('a'), ...Array(6).fill('b'), 'c', 'd', 'e'];
  const { given, releases, settle } = asking(new ZoneSlots(), servers);
  await settle();
  expect(given.join('')).toBe('aaaabbbbcd');
  releases[4]?.();
  await settle();
  expect(given.join('')).toBe('aaaabbbbcdb');
  releases[0]?.();
  await settle();
  expect(given.join('')).toBe('aaaabbbbcdba');
  for (const release of releases) release();
  await settle();
  expect(given.join('')).toBe('aaaabbbbcdbaaeb');
});

it('a slot that is released twice is released once', async () => {
  const { given, releases, settle } = asking(new ZoneSlots(), Array(8).fill('a'));
  await settle();
  releases[0]?.();
  releases[0]?.();
  await settle();
  expect(given).toHaveLength(5);
});
