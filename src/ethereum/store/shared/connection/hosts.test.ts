import { expect, it } from 'vitest';
import type { ClickHouse } from './clickHouse.ts';
import { TraceStoreUnavailable, UnprovenRead } from './failures.ts';
import { Hosts } from './hosts.ts';

const [one, other] = [{}, {}] as [ClickHouse, ClickHouse]; // only compared

it('a read asks each host before its result is undefined, although concurrent reads change the current host', async () => {
  const hosts = new Hosts([one, other]);
  const asked: ClickHouse[] = [];
  const found = await hosts.read(async (host) => {
    asked.push(host);
    hosts.failed();
    return host === other ? 'found' : undefined;
  });
  expect([found, asked]).toEqual(['found', [one, other]]);
});

it('a read asks the host that had the last result first', async () => {
  const hosts = new Hosts([one, other]);
  const read = async (host: ClickHouse) => {
    if (host === one) throw new TraceStoreUnavailable('away');
    return host;
  };
  expect(await hosts.read(read)).toBe(other);
  expect(hosts.current).toBe(other);
});

it('a read whose block one host lacks fails if another host does not prove it', async () => {
  const hosts = new Hosts([one, other]);
  const fails = (error: Error) => (host: ClickHouse) =>
    host === one ? Promise.resolve(undefined) : Promise.reject(error);
  await expect(hosts.read(fails(new UnprovenRead('unproven')))).rejects.toThrow('unproven');
  expect(await hosts.read(fails(new TraceStoreUnavailable('away')))).toBeUndefined();
});
