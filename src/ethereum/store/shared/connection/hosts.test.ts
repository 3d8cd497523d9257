import { expect, it } from 'vitest';
import type { ClickHouse } from './clickHouse.ts';
import { TraceStoreUnavailable, UnprovenRead } from './failures.ts';
import { Hosts } from './hosts.ts';

const [one, other] = [{}, {}] as [ClickHouse, ClickHouse]; // only compared

const away = new TraceStoreUnavailable('away');

it('a read asks each host before its result is undefined, although other calls change the current host', async () => {
  const hosts = new Hosts([one, other]);
  const asked: ClickHouse[] = [];
  const found = await hosts.run(async (host) => {
    asked.push(host);
    await hosts.run(async (host) => {
      if (host === asked.at(-1)) throw away;
      return 'another result';
    });
    return host === other ? 'found' : undefined;
  });
  expect([found, asked]).toEqual(['found', [one, other]]);
});

it('a call begins with the host that had the last result', async () => {
  const hosts = new Hosts([one, other]);
  await hosts.run((host) => (host === one ? Promise.reject(away) : Promise.resolve('a result')));
  expect(await hosts.run(async (host) => host)).toBe(other);
});

it('a read whose block one host lacks fails if another host does not prove it', async () => {
  const hosts = new Hosts([one, other]);
  const fails = (error: Error) => (host: ClickHouse) =>
    host === one ? Promise.resolve(undefined) : Promise.reject(error);
  await expect(hosts.run(fails(new UnprovenRead('unproven')))).rejects.toThrow('unproven');
  expect(await hosts.run(fails(away))).toBeUndefined();
});
