/** The health of the DNS servers: real servers are stopped, slowed down and resumed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import type { Log } from '../../src/platform/logging/index.ts';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient, startGuarded } from './support/clients.ts';
import { query, type Target } from './support/dnsClient.ts';
import { driveDnsdist } from './support/driveDnsdist.ts';
import { startFaultyServer } from './support/faultyServer.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { startProgram } from './support/program.ts';
import { noDnsdist, startDnsdist } from './support/realDnsdist.ts';
import { noNsd, type RealServer, startNsd } from './support/realServer.ts';
import type { GuardState, ToGuard } from './support/threadedGuard.ts';

const UNHEALTHY = 'DNS servers unhealthy or overloaded';
const HEALTHY = 'DNS servers healthy again';
const SEND_EVERY_MS = 50;
const PER_SEND = 10;
/** A server is slow if it answers only in this part of each period: most answers take longer than 250 ms. */
const SLOW = { periodMs: 450, answersMs: 25 };

/** The log if queries for known names show that a server is unhealthy. */
const MEASURED = [
  UNHEALTHY,
  expect.objectContaining({ reason: expect.stringMatching(/answers$/), limitMs: expect.any(Number) }),
];

/** Sends queries at a steady rate until the end of the test, for known names or for those of `nameOf`. */
async function steadily(target: Target, nameOf = (n: number): string => `h${n % 200}`): Promise<void> {
  const client = await openUdpClient();
  let sent = 0;
  const timer = setInterval(() => {
    for (let i = 0; i < PER_SEND; i++, sent++)
      client.send(query(`${nameOf(sent)}.${ZONE_NAME}`, QueryType.A, sent & 0xffff), target);
  }, SEND_EVERY_MS);
  atEnd(() => clearInterval(timer));
}

/** Lets a server answer only for a short time in each period. Returns a function that ends this. */
function slowDown(server: RealServer): () => void {
  let resuming: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    server.setPaused(false);
    resuming = setTimeout(() => server.setPaused(true), SLOW.answersMs);
  }, SLOW.periodMs);
  const end = (): void => {
    clearInterval(timer);
    clearTimeout(resuming);
    server.setPaused(false);
  };
  atEnd(end);
  return end;
}

/** A log that stores the messages about health, with their fields. */
function newLog() {
  const lines: (readonly [string, { readonly answeredShare?: number }])[] = [];
  const note = (fields: object, message: string): void => {
    if (message === UNHEALTHY || message === HEALTHY) lines.push([message, fields]);
  };
  const log: Log = { info: note, warn: note, error: note };
  return { log, lines };
}

async function nsd(): Promise<RealServer> {
  const server = await startNsd(ZONE_NAME, ZONE_TEXT);
  atEnd(() => server.stop());
  return server;
}

it('a stopped server is unhealthy in metric and log, and healthy 30 s after it is resumed', async (ctx) => {
  if (noNsd) return ctx.skip(noNsd);
  const server = await nsd();
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'zone'), ZONE_TEXT);
  const program = await startProgram(folder, server, '--dns-zones', `${ZONE_NAME}=${join(folder, 'zone')}`);
  atEnd(() => program.stop());
  const reads = (value: number) => async () =>
    (await program.metrics()).includes(`floodgate_dns_upstreams_healthy ${value}\n`);
  await steadily(program.dns);
  await until('the server to be healthy', reads(1));
  server.setPaused(true);
  await until('the stopped server to be unhealthy', reads(0));
  server.setPaused(false);
  await until('the resumed server to be healthy', reads(1));
  const times = program
    .output()
    .split('\n')
    .filter((line) => line.includes(UNHEALTHY) || line.includes(HEALTHY))
    .map((line) => Date.parse(JSON.parse(line).time));
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(30_000);
});

it('slow servers are unhealthy because of their response times', async (ctx) => {
  if (noNsd) return ctx.skip(noNsd);
  // With two servers, a single unanswered probe does not count.
  const servers = await Promise.all([nsd(), nsd()]);
  const { log, lines } = newLog();
  const { guard, target } = await startGuarded({}, { servers, probeName: ZONE_NAME, log });
  await steadily(target);
  for (const server of servers) slowDown(server);
  await until('the slow servers to be unhealthy', () => !guard.detector.upstreamsHealthy);
  expect(lines).toEqual([MEASURED]);
});

it('a flood of unknown names that fail does not count, even if it is most of the traffic', async () => {
  const server = await startFaultyServer();
  atEnd(() => server.stop());
  server.servfailFor = 'x';
  const { log, lines } = newLog();
  const { guard, target } = await startGuarded(undefined, { servers: [server], probeName: ZONE_NAME, log });
  await steadily(target);
  for (let attacker = 0; attacker < 4; attacker++) await steadily(target, (n) => `x${attacker}-${n}`);
  const answered = () => guard.dataPlane.servers[0]?.answered ?? 0;
  await until('the flood to be answered for some seconds', () => answered() > 5000);
  // On a loaded machine the server may be slow. If the flood counted, the answered share would be 0.2.
  for (const [, { answeredShare = 1 }] of lines) expect(answeredShare).toBeGreaterThan(0.5);
});

const node = newerNode();
it.skipIf(node === undefined)(
  `several threads count response times together${node ? '' : ` (${NO_NEWER_NODE})`}`,
  async () => {
    const server = await startFaultyServer();
    atEnd(() => server.stop());
    const addresses = JSON.stringify([{ host: server.host, port: server.port }]);
    const program = fileURLToPath(new URL('./support/threadedGuard.ts', import.meta.url));
    const child = fork(program, ['2', '0', addresses], { execPath: node, execArgv: [] });
    atEnd(() => child.kill('SIGKILL'));
    const heard = async (): Promise<GuardState> => (await once(child, 'message'))[0];
    const { port, areServersHealthy } = await heard();
    expect(areServersHealthy).toBe(true);
    const isHealthy = async (): Promise<boolean> => {
      const answer = heard();
      child.send('state' satisfies ToGuard);
      return (await answer).areServersHealthy;
    };
    await steadily({ host: '127.0.0.1', port }, (n) => `h${n % 100}`);
    // Probes are still answered, so only the queries can show it.
    server.servfailFor = 'h';
    await until('the server to be unhealthy', async () => !(await isHealthy()));
  },
);

it('a slow or stopped server of dnsdist is unhealthy', async (ctx) => {
  if (noNsd ?? noDnsdist) return ctx.skip(noNsd ?? noDnsdist);
  const server = await nsd();
  const dnsdist = await startDnsdist(server);
  atEnd(() => dnsdist.stop());
  const zoneFile = join(dnsdist.folder, 'zone');
  await writeFile(zoneFile, ZONE_TEXT);
  const { key, dnstap, folder } = dnsdist;
  const { log, lines } = newLog();
  const guard = await driveDnsdist({
    rules: new TestRules([RULE]),
    consoles: [dnsdist.console],
    key,
    dnstap,
    folder,
    log,
    zones: [{ name: ZONE_NAME, file: zoneFile }],
    detector: { profile: { maxNames: 10_000 } },
  });
  atEnd(() => guard.stop());
  await guard.seeding.tried;
  await steadily(dnsdist);
  await until('the servers to be healthy', () => guard.detector.upstreamsHealthy);
  const before = lines.length;
  const resume = slowDown(server);
  await until('the slow server to be unhealthy', () => !guard.detector.upstreamsHealthy);
  // The probes of dnsdist are still answered, so dnstap has shown it.
  expect(lines.slice(before)).toEqual([MEASURED]);
  resume();
  server.setPaused(true);
  const [node] = guard.dataPlane.nodes();
  await until('dnsdist to report that the stopped server is down', () => node?.serversUp === 0);
  server.setPaused(false);
  await until('dnsdist to report that the resumed server is up', () => node?.serversUp === 1);
});

it('a guard whose dnsdist is unreachable has no data, so its servers are unhealthy', async () => {
  const { log, lines } = newLog();
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const guard = await driveDnsdist({
    rules: new TestRules([]),
    consoles: [{ host: '127.0.0.1', port: 9 }],
    folder,
    log,
    key: Buffer.alloc(32, 1).toString('base64'),
    dnstap: { host: '127.0.0.1', port: 0 },
  });
  atEnd(() => guard.stop());
  await until('the servers to be unhealthy', () => !guard.detector.upstreamsHealthy);
  expect(lines).toEqual([[UNHEALTHY, { reason: 'no data' }]]);
});
