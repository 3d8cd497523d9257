import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { HANG_MS } from '../../../../../test/support/hang.ts';
import { UserEnd, verdictOf } from '../../../detector/index.ts';
import { nameToWire, QueryType, queryPacket } from '../../../protocol/index.ts';
import { newResponseTimes, ResponseTimes, TimeCounts } from '../../index.ts';
import { LocalUdpRelay } from './localUdpRelay.ts';
import type { UdpPolicy } from './udpFrontend.ts';

const LOOPBACK = '127.0.0.1';
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function bound() {
  const socket = createSocket('udp4').bind(0, LOOPBACK);
  await once(socket, 'listening');
  ends.push(() => socket.close());
  return socket;
}

it('an exception while a packet is handled drops that packet only and is reported once a minute', async () => {
  const server = await bound();
  server.on('message', (packet, { port, address }) => {
    packet[2] = 0x80;
    server.send(packet, port, address);
  });
  const reported: string[] = [];
  let throwing = false;
  const orThrow = <T>(value: T): T => {
    if (throwing) throw new Error('unexpected fault');
    return value;
  };
  const relay = new LocalUdpRelay(
    {
      servers: [{ host: LOOPBACK, port: server.address().port }],
      timeoutMs: 2000,
      guarded: true,
      sharesPorts: false,
    },
    {
      // TXT fails on the way to the server, other types on the way back.
      policy: {
        key: { high: 1, low: 2 },
        userZone: 0,
        countUser: () => undefined,
        decideCookie: () => verdictOf('passed', 'none'),
        decide: (question) => {
          if (question.type === QueryType.TXT) orThrow(undefined);
          return verdictOf('passed', 'none');
        },
      },
      responseTimes: newResponseTimes(),
      onAnswer: () => orThrow(undefined),
      onFault: (fault) => reported.push(fault),
    },
  );
  ends.push(() => relay.close());
  const probe = await bound();
  const { port } = probe.address();
  await new Promise<void>((resolve) => probe.close(resolve));
  ends.splice(ends.length - 1);
  await relay.opened();
  await relay.listen(0, { host: LOOPBACK, port });
  const client = await bound();
  const ask = (type: number) =>
    client.send(queryPacket(nameToWire('www.example.test'), type, 7), port, LOOPBACK);
  const faults = async (count: number): Promise<void> => {
    while (relay.faults() < count) await new Promise((resolve) => setImmediate(resolve));
  };
  throwing = true;
  ask(QueryType.TXT);
  await faults(1);
  ask(QueryType.A);
  await faults(2);
  throwing = false;
  ask(QueryType.A);
  const [answer] = await once(client, 'message');
  expect(answer.readUInt16BE(0)).toBe(7);
  expect([relay.faults(), reported.length]).toEqual([2, 1]);
  expect(reported[0]).toMatch(/unexpected fault\n +at /);
});

it('the outcome of each user query is counted: answered, dropped, not sent, or unanswered', async () => {
  const server = await bound();
  // A is answered, TXT gets SERVFAIL, MX is not answered.
  server.on('message', (packet, { port, address }) => {
    const type = packet.readUInt16BE(packet.length - 4);
    packet[2] = 0x80;
    if (type === QueryType.TXT) packet[3] = 2;
    if (type !== QueryType.MX) server.send(packet, port, address);
  });
  const ended: (readonly [number, UserEnd])[] = [];
  const { relay, port, memory } = await startRelay([server], {
    decide: ({ type }) => verdictOf(type === QueryType.ANY ? 'dropped' : 'passed', 'none'),
    countUser: (zone, end) => ended.push([zone, end]),
  });
  const client = await bound();
  for (const type of [QueryType.A, QueryType.TXT, QueryType.ANY, QueryType.MX])
    client.send(queryPacket(nameToWire('www.example.test'), type, 7), port, LOOPBACK);
  const waiting = () => relay.servers[0]?.inFlight.waiting;
  while (ended.length < 3 || waiting() !== 1) await new Promise((resolve) => setImmediate(resolve));
  relay.tick(Date.now() + 10_000);
  await expect.poll(() => ended.length, { timeout: HANG_MS }).toBe(4);
  expect(ended.toSorted(([, one], [, other]) => one - other)).toEqual([
    [5, UserEnd.answered],
    [5, UserEnd.limited],
    [5, UserEnd.unanswered],
    [5, UserEnd.unanswered],
  ]);
  const counts = new TimeCounts();
  new ResponseTimes(memory).takeTo(counts);
  expect([counts.answered, counts.unanswered]).toEqual([1, 2]);
});

it('a query and a probe whose answers arrived while the event loop was blocked do not expire', async () => {
  const server = await bound();
  const ended: UserEnd[] = [];
  const { relay, port, memory } = await startRelay([server], { countUser: (_, end) => ended.push(end) });
  let probes = 0;
  server.on('message', (packet, { port: to, address }) => {
    if (packet.readUInt16BE(packet.length - 4) === QueryType.SOA) probes++;
    packet[2] = 0x80;
    server.send(packet, to, address);
    // Simulates a blocked event loop: the timer fires before the answer is read, which has arrived.
    relay.tick(Date.now() + 10_000);
  });
  const client = await bound();
  client.send(queryPacket(nameToWire('www.example.test'), QueryType.A, 7), port, LOOPBACK);
  await expect.poll(() => [ended.length, probes > 0], { timeout: HANG_MS }).toEqual([1, true]);
  await expect.poll(() => relay.servers[0]?.inFlight.waiting, { timeout: HANG_MS }).toBe(0);
  expect(ended).toEqual([UserEnd.answered]);
  const counts = new TimeCounts();
  new ResponseTimes(memory).takeTo(counts);
  expect([counts.unanswered, counts.failedProbes]).toEqual([0, 0]);
});

interface RelayOptions {
  readonly timeoutMs?: number;
  readonly decide?: UdpPolicy['decide'];
  readonly countUser?: (userZone: number, end: UserEnd) => void;
}

/** Starts a relay for queries of users. Returns its port, and the memory of its response times. */
async function startRelay(
  servers: readonly Socket[],
  { timeoutMs = 2000, decide = () => verdictOf('passed', 'none'), countUser = () => undefined }: RelayOptions,
) {
  const memory = newResponseTimes();
  const relay = new LocalUdpRelay(
    {
      servers: servers.map((server) => ({ host: LOOPBACK, port: server.address().port })),
      timeoutMs,
      guarded: true,
      sharesPorts: false,
    },
    {
      policy: {
        key: { high: 1, low: 2 },
        userZone: 5,
        decide,
        countUser,
        decideCookie: () => verdictOf('passed', 'none'),
      },
      responseTimes: memory,
      onAnswer: () => undefined,
      onFault: () => undefined,
    },
  );
  ends.push(() => relay.close());
  const free = await bound();
  const { port } = free.address();
  await new Promise<void>((resolve) => free.close(resolve));
  ends.splice(ends.length - 1);
  await relay.opened();
  await relay.listen(0, { host: LOOPBACK, port });
  return { relay, port, memory };
}

/** Starts a relay in front of a silent and a good server, and sends 40 queries for known names. */
async function inFrontOfSilent(timeoutMs: number) {
  const [silent, good] = [await bound(), await bound()];
  let unanswered = 0;
  silent.on('message', (packet) => {
    if (packet.readUInt16BE(packet.length - 4) !== QueryType.SOA) unanswered++; // SOA is a probe
  });
  good.on('message', (packet, { port, address }) => {
    packet[2] = 0x80;
    good.send(packet, port, address);
  });
  const { relay, port, memory } = await startRelay([silent, good], { timeoutMs });
  const client = await bound();
  let answers = 0;
  client.on('message', () => answers++);
  for (let id = 0; id < QUERIES; id++)
    client.send(queryPacket(nameToWire(`h${id}.example.test`), QueryType.A, id), port, LOOPBACK);
  const times = new ResponseTimes(memory);
  const counts = new TimeCounts();
  const total = new TimeCounts();
  const counted = (): TimeCounts => {
    times.takeTo(counts);
    total.add(counts);
    return total;
  };
  return { relay, counted, answers: () => answers, unanswered: () => unanswered };
}

const QUERIES = 40;

it('a query that is retried with another server counts once: as unanswered, because its answer is late', async () => {
  const { counted, answers, unanswered } = await inFrontOfSilent(2000);
  while (answers() < QUERIES) await new Promise((resolve) => setImmediate(resolve));
  expect(counted().queries).toBe(QUERIES);
  expect(counted().unanswered).toBeGreaterThanOrEqual(unanswered());
});

it('a query without an answer counts as unanswered before it is retried, if the timeout is long', async () => {
  const { relay, counted, unanswered } = await inFrontOfSilent(20_000);
  while (counted().queries < QUERIES) await new Promise((resolve) => setImmediate(resolve));
  expect(counted().unanswered).toBeGreaterThanOrEqual(unanswered());
  expect(relay.servers[0]?.retried).toBe(0);
});
