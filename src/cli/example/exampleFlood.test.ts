import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../../test/support/until.ts';
import { nameToText } from '../../dns/protocol/index.ts';
import { ExampleFlood } from './exampleFlood.ts';

const ZONE = 'example.test';
const HEADER_BYTES = 12;

let guard: Socket;
let names: string[];
beforeEach(async () => {
  names = [];
  guard = createSocket('udp4').on('message', (packet) =>
    names.push(nameToText(packet.subarray(HEADER_BYTES, -4))),
  );
  guard.bind(0, '127.0.0.1');
  await once(guard, 'listening');
});
afterEach(() => guard.close());

it('the test flood sends random names and known names, at most 5,000 queries per second', async () => {
  const flood = new ExampleFlood(ZONE);
  flood.target = { host: '127.0.0.1', port: guard.address().port };
  const startedMs = performance.now();
  expect(flood.start()).toBeUndefined();
  expect(flood.start()).toContain(`a test flood is running until ${flood.endsOn}`);
  await until('random and known names', () => names.length > 500 && names.includes(`www.${ZONE}`));
  flood.stop();
  expect(names.length).toBeLessThanOrEqual(5 * (performance.now() - startedMs));
  expect(names.every((name) => name.endsWith(`.${ZONE}`))).toBe(true);
  expect(new Set(names).size).toBeGreaterThan(names.length * 0.9);
});

it('the test flood ends by itself, and can be started again', async () => {
  const flood = new ExampleFlood(ZONE, 50);
  flood.target = { host: '127.0.0.1', port: guard.address().port };
  expect(flood.start()).toBeUndefined();
  await until('the end of the flood', () => flood.endsOn === undefined);
  expect(flood.start()).toBeUndefined();
  flood.stop();
});

it('the test flood does not start unless the guard listens on loopback', () => {
  const flood = new ExampleFlood(ZONE);
  for (const host of ['0.0.0.0', '192.0.2.1', '::1', undefined]) {
    if (host !== undefined) flood.target = { host, port: 53 };
    expect(flood.start()).toContain('does not listen on an IPv4 loopback address');
  }
});
