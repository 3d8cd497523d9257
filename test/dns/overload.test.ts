/**
 * `only_when_upstream_unhealthy`: a flood overloads a server and ends. All times are seconds of the guard: it decides
 * once per second. Beside other tests, a busy machine overloads the server too. Therefore the tests run only in a
 * longer search, on a machine with nothing else to do: FLOODGATE_SEARCH_MINUTES=1 npx vitest run test/dns/overload.test.ts
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Guard } from '../../src/dns/controller/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { SEARCH_MINUTES } from '../support/search.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient, startGuarded } from './support/clients.ts';
import { query, RCODE, type Target, type UdpClient } from './support/dnsClient.ts';
import { driveDnsdist } from './support/driveDnsdist.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { type GuardSecond, recordSeconds } from './support/guardSeconds.ts';
import { noDnsdist, startDnsdist } from './support/realDnsdist.ts';
import { zonePolicy } from './support/zonePolicy.ts';

/** Queries per second that the server answers, and the length of its queue. */
const SERVER = { perSecond: 400, queued: 200 };
/** Queries per second for known names. */
const USERS_PER_SECOND = 100;
/** Random names per second that the server can answer together with the users' queries, and those that overload it. */
const FLOOD = { tolerated: 200, overloading: 450 };
const CLIENTS = 10;
const SEND_EVERY_MS = 20;

const GUARD = {
  zonePolicies: {
    list: () => [zonePolicy({ zone: ZONE_NAME, only_when_upstream_unhealthy: true })],
    onChange: () => () => {},
  },
  detector: {
    profile: { maxNames: 10_000 },
    // Without it, queries are dropped only during an attack, also in zones without this policy.
    thresholds: { unknownPerSecond: 1000, accountUnknownPerSecond: 5000, ratePerSecond: 100 },
  },
};

async function startServer(): Promise<Target> {
  const program = fileURLToPath(new URL('./support/boundedServer.js', import.meta.url));
  const child = fork(program, [SERVER.perSecond, SERVER.queued].map(String));
  atEnd(() => child.kill('SIGKILL'));
  const [port] = await once(child, 'message');
  return { host: '127.0.0.1', port };
}

/** Queries of some clients, at a rate that can be changed. Each query has another id. */
class Traffic {
  perSecond = 0;
  sent = 0;
  readonly #clients: readonly UdpClient[];
  readonly #target: Target;
  readonly #nameOf: (n: number) => string;

  constructor(clients: readonly UdpClient[], target: Target, nameOf: (n: number) => string) {
    this.#clients = clients;
    this.#target = target;
    this.#nameOf = nameOf;
  }

  send(): void {
    const packet = query(`${this.#nameOf(this.sent)}.${ZONE_NAME}`, QueryType.A, this.sent & 0xffff);
    this.#clients[this.sent % this.#clients.length]?.send(packet, this.#target);
    this.sent++;
  }

  /** Number of answers that need no retry. */
  get answered(): number {
    const answers = this.#clients.flatMap((client) => [...client.answers.values()]);
    return answers.filter(({ rcode, truncated }) => rcode !== RCODE.SERVFAIL && !truncated).length;
  }

  get lost(): number {
    return this.sent - this.answered;
  }
}

async function startTraffic(target: Target, network: string, nameOf: (n: number) => string) {
  const addresses = Array.from({ length: CLIENTS }, (_, n) => `${network}.${n + 1}`);
  const clients = await Promise.all(addresses.map((address) => openUdpClient(address)));
  return new Traffic(clients, target, nameOf);
}

/** Sends until the end of the test. The order is random, so that all queries are equally likely to be lost. */
function sendMixed(users: Traffic, flood: Traffic): void {
  let due = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const perSecond = users.perSecond + flood.perSecond;
    // A blocked process does not send a burst afterwards.
    due += perSecond * Math.min((nowMs - lastMs) / 1000, 0.1);
    lastMs = nowMs;
    for (; due >= 1; due--) (Math.random() * perSecond < users.perSecond ? users : flood).send();
  }, SEND_EVERY_MS);
  atEnd(() => clearInterval(timer));
}

/** Whether an attack was reported in these seconds, and nothing was limited after any of them. */
const areTolerated = (seconds: readonly GuardSecond[]): boolean =>
  seconds.every(({ isReported, limits }) => isReported && !limits);

/**
 * Overloads the server of a guard, and lets it recover. `countedAfter`: seconds after which the guard has counted a
 * limited query.
 */
async function overload(guard: Guard, target: Target, countedAfter: number): Promise<void> {
  const users = await startTraffic(target, '127.0.1', (n) => `h${n % 200}`);
  const flood = await startTraffic(target, '127.0.2', (n) => `x${n}`);
  const seconds = recordSeconds(guard, ZONE_NAME);
  sendMixed(users, flood);
  users.perSecond = USERS_PER_SECOND;
  flood.perSecond = FLOOD.tolerated;
  await until(
    'some seconds in which the attack is reported, but not limited',
    () => seconds.length >= 5 && areTolerated(seconds.slice(-5)),
  );
  const floodedAt = seconds.length;
  const sentBefore = users.sent;
  flood.perSecond = FLOOD.overloading;
  await until('the flood to be limited', () => seconds.slice(floodedAt).some(({ limits }) => limits));
  // Without limits, the flood would overload the server again 30 s after the last overload.
  const isHeld = ({ limits, isOverloaded }: GuardSecond) => limits && !isOverloaded;
  await until('the flood to be limited for longer', () => seconds.slice(-35).every(isHeld));
  const lastFlooded = seconds.length - 1;
  flood.perSecond = 0;
  const ended = await until(
    'the limits to end',
    () => seconds.at(-1)?.limits === false && seconds.length - 1,
  );
  users.perSecond = 0;
  await until('the last queries to be answered or to time out', () => seconds.length > ended + 3);

  for (const [at, { limited }] of seconds.entries())
    if (at >= countedAfter && seconds.slice(at - countedAfter, at).every(({ limits }) => !limits))
      expect(limited).toBe(0);
  const overloadedAt = seconds.findIndex(({ isOverloaded }, at) => at >= floodedAt && isOverloaded);
  const limitedAt = seconds.findIndex(({ limited }, at) => at >= floodedAt && limited > 0);
  expect(overloadedAt).toBeGreaterThanOrEqual(floodedAt);
  expect(limitedAt - overloadedAt).toBeLessThanOrEqual(1 + countedAfter);
  const duringMs = (seconds[ended]?.nowMs ?? 0) - (seconds[lastFlooded]?.nowMs ?? 0);
  expect(duringMs).toBeGreaterThanOrEqual(30_000);
  const lastAbnormal = Math.max(
    lastFlooded + 1,
    seconds.slice(0, ended).findLastIndex(({ isCalm }) => !isCalm),
  );
  expect(ended - lastAbnormal).toBeLessThanOrEqual(31);
  expect(users.lost).toBeLessThanOrEqual(0.02 * (users.sent - sentBefore));
}

const NEEDS_QUIET = SEARCH_MINUTES === 0 && 'needs a quiet machine: set FLOODGATE_SEARCH_MINUTES';

it('a flood is limited only from its overload of the server until 30 s after flood and overload', async (ctx) => {
  if (NEEDS_QUIET) return ctx.skip(NEEDS_QUIET);
  const server = await startServer();
  const { guard, target } = await startGuarded({}, { servers: [server], probeName: ZONE_NAME, ...GUARD });
  await overload(guard, target, 1);
});

it('a flood through dnsdist is limited only from its overload of the server until 30 s after flood and overload', async (ctx) => {
  if (NEEDS_QUIET) return ctx.skip(NEEDS_QUIET);
  if (noDnsdist) return ctx.skip(noDnsdist);
  const dnsdist = await startDnsdist(await startServer());
  atEnd(() => dnsdist.stop());
  const file = join(dnsdist.folder, 'zone');
  await writeFile(file, ZONE_TEXT);
  const { key, dnstap, folder } = dnsdist;
  const guard = await driveDnsdist({
    rules: new TestRules([RULE]),
    consoles: [dnsdist.console],
    key,
    dnstap,
    folder,
    zones: [{ name: ZONE_NAME, file }],
    ...GUARD,
  });
  atEnd(() => guard.stop());
  await guard.seeding.tried;
  await overload(guard, dnsdist, 2);
});
