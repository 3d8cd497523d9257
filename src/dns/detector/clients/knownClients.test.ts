import { expect, it } from 'vitest';
import { networkHash } from '../../protocol/index.ts';
import { KNOWN_CLIENTS_BYTES, KnownClients } from './knownClients.ts';

const KEY = { high: 0x12345678, low: 0x9abcdef0 };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 10, 21);
/** Limit of new clients, and the rate that counts as usual. */
const RATE = { ratePerSecond: 100, burst: 500 };
const USUAL = { ratePerSecond: 200, burst: 1000 };

function knownClients(nowMs = NOW): KnownClients {
  const clients = new KnownClients(new SharedArrayBuffer(KNOWN_CLIENTS_BYTES), KEY);
  clients.resize(RATE, USUAL, nowMs);
  return clients;
}

const user = (i: number): number => networkHash(`198.51.${i}.1`);
const forged = (i: number): number => networkHash(`${1 + (i % 197)}.${(i >> 8) & 255}.${(i * 7) & 255}.9`);

/** Runs queries from forged networks, one each. Returns how many were admitted. */
function flood(
  clients: KnownClients,
  { queries, seconds, startMs }: Record<'queries' | 'seconds' | 'startMs', number>,
) {
  let admitted = 0;
  for (let i = 0; i < queries; i++) {
    const nowMs = startMs + Math.floor((i * seconds * 1000) / queries);
    if (!clients.admits(forged(i), nowMs)) continue;
    admitted++;
    clients.note(forged(i), nowMs);
  }
  return admitted;
}

it('a network is known after an hour; before the first hour no network is new', () => {
  const clients = knownClients();
  clients.note(user(1), NOW);
  expect(clients.isNew(user(2), NOW + 59 * MINUTE_MS)).toBe(false);
  clients.note(user(1), NOW + 59 * MINUTE_MS);
  expect(clients.isNew(user(1), NOW + HOUR_MS)).toBe(true);
  expect(clients.size(NOW + HOUR_MS)).toBe(0);
  clients.note(user(1), NOW + HOUR_MS);
  expect(clients.size(NOW + HOUR_MS)).toBe(1);
  expect(clients.isNew(user(1), NOW + HOUR_MS)).toBe(false);
  expect(clients.isNew(networkHash('198.51.1.77'), NOW + HOUR_MS)).toBe(false);
  expect(clients.isNew(user(2), NOW + HOUR_MS)).toBe(true);
});

it('new networks share a limit; known networks are not limited', () => {
  const clients = knownClients();
  for (const atMs of [NOW, NOW + HOUR_MS]) clients.note(user(1), atMs);
  const startMs = NOW + HOUR_MS;
  expect(flood(clients, { queries: 100_000, seconds: 10, startMs })).toBe(
    RATE.burst + 10 * RATE.ratePerSecond - 1,
  );
  for (let i = 0; i < 10_000; i++) expect(clients.admits(user(1), startMs + 10_000)).toBe(true);
});

it('a flood of any duration makes no network known, whether or not it is limited', () => {
  const networks = Array.from({ length: 250 }, (_, i) => networkHash(`203.0.${i}.1`));
  for (const isHeld of [true, false]) {
    const clients = knownClients();
    for (const atMs of [NOW, NOW + HOUR_MS]) clients.note(user(1), atMs);
    // 250 networks that together exceed the usual rate.
    for (let second = 0; second < 4000; second++)
      for (const [i, network] of networks.entries()) {
        const nowMs = NOW + HOUR_MS + second * 1000 + 4 * i;
        if (!isHeld || clients.admits(network, nowMs)) clients.note(network, nowMs);
      }
    const atMs = NOW + HOUR_MS + 4_000_000;
    expect(networks.filter((network) => !clients.isNew(network, atMs))).toEqual([]);
    expect(clients.isNew(user(1), atMs)).toBe(false);
  }
});

it('known networks are not evicted by new ones, and expire after a week', () => {
  const clients = knownClients();
  const users = Array.from({ length: 200 }, (_, i) => user(i));
  for (const atMs of [NOW, NOW + HOUR_MS]) for (const one of users) clients.note(one, atMs);
  // At the rate of a patient attacker, from more networks than there are slots.
  for (let i = 0; i < 300_000; i++) clients.note(forged(i), NOW + HOUR_MS + i * 66);
  const later = NOW + HOUR_MS + 300_000 * 66;
  expect(users.filter((one) => clients.isNew(one, later))).toEqual([]);
  expect(users.filter((one) => !clients.isNew(one, later + 8 * DAY_MS))).toEqual([]);
});

it('a network that sends queries every day stays known for months', () => {
  const clients = knownClients();
  for (let day = 0; day < 120; day++)
    for (const hour of [0, 1, 12]) {
      const nowMs = NOW + day * DAY_MS + hour * HOUR_MS;
      clients.note(user(1), nowMs);
      for (let second = 0; second < 100; second++) clients.sweep(nowMs + second * 1000);
      if (day > 0) expect(clients.isNew(user(1), nowMs), `day ${day}, hour ${hour}`).toBe(false);
    }
});

it('known networks survive a restart, but not a pause of weeks', () => {
  const clients = knownClients();
  for (let i = 0; i < 3000; i++) clients.note(networkHash(`10.${i >> 8}.${i & 255}.1`), NOW + i * 10);
  for (let i = 0; i < 3000; i++)
    clients.note(networkHash(`10.${i >> 8}.${i & 255}.1`), NOW + HOUR_MS + i * 10);
  const savedMs = NOW + 2 * HOUR_MS;
  const stored = JSON.parse(JSON.stringify(clients.stored(savedMs)));
  for (const [days, isNew] of [
    [0, false],
    [6, false],
    [60, undefined],
  ] as const) {
    const again = knownClients();
    again.restore(stored, savedMs + days * DAY_MS);
    const states = Array.from({ length: 3000 }, (_, i) =>
      again.isNew(networkHash(`10.${i >> 8}.${i & 255}.1`), savedMs + days * DAY_MS),
    );
    if (isNew === undefined) expect(again.stored(savedMs).places).toBe('');
    else expect(states.filter((one) => one !== isNew)).toEqual([]);
    expect(again.size(savedMs + days * DAY_MS)).toBe(isNew === undefined ? 0 : 3000);
  }
});

it('networks are learned after the clock was set back', () => {
  const clients = knownClients();
  for (const atMs of [NOW, NOW + HOUR_MS]) clients.note(user(1), atMs);
  flood(clients, { queries: 10_000, seconds: 1, startMs: NOW + 10 * HOUR_MS });
  expect(clients.isNew(user(1), NOW)).toBe(false);
  for (const hours of [0, 1, 2]) clients.note(user(2), NOW + hours * HOUR_MS);
  expect(clients.isNew(user(2), NOW + 2 * HOUR_MS)).toBe(false);
});
