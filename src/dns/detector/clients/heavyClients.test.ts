import { expect, it } from 'vitest';
import { ClientAddress } from './clientAddress.ts';
import { CLIENT_WINDOW_MS, HEAVY_CLIENTS_BYTES, HeavyClients } from './heavyClients.ts';

const KEY = { high: 0x12345678, low: 0x9abcdef0 };
const heavyClients = () => new HeavyClients(new SharedArrayBuffer(HEAVY_CLIENTS_BYTES), KEY);

const address = new ClientAddress();
function at(text: string): ClientAddress {
  address.read(text);
  return address;
}
const forged = (i: number): string =>
  `${(i >>> 24) & 0xff}.${(i >>> 16) & 0xff}.${(i >>> 8) & 0xff}.${i & 0xff}`;

it('counts each client separately, IPv6 clients per /64, from 0 in each window', () => {
  const clients = heavyClients();
  for (let i = 1; i <= 100; i++) {
    expect(clients.count(at('192.0.2.1'), 0)).toBe(i);
    expect(clients.count(at(`2001:db8::${i}`), 0)).toBe(i);
  }
  expect(clients.count(at('2001:db8:0:1::1'), 0)).toBe(1);
  expect(clients.count(at('::ffff:192.0.2.1'), CLIENT_WINDOW_MS - 1)).toBe(101);
  expect(clients.count(at('192.0.2.1'), CLIENT_WINDOW_MS)).toBe(1);
});

it('200,000 forged addresses neither hide heavy clients nor make a light client heavy', () => {
  const clients = heavyClients();
  let heavy = 0;
  let most = 0;
  // One query in a hundred comes from each of four heavy clients; one in 2,000 from a light one.
  for (let i = 0; i < 200_000; i++) {
    most = Math.max(most, clients.count(at(forged(i * 2_654_435)), 0));
    if (i % 100 === 0) for (let j = 0; j < 4; j++) heavy = clients.count(at(`198.51.100.${j}`), 0);
    if (i % 2_000 === 0) clients.count(at('203.0.113.9'), 0);
  }
  expect(heavy).toBeGreaterThan(1_900);
  expect(most).toBeLessThan(100);
  expect(clients.count(at('203.0.113.9'), 0)).toBeLessThanOrEqual(101);
});
