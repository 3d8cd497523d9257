import { expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { askTcp, query, RCODE, type Target, type UdpClient } from './support/dnsClient.ts';
import { atEnd } from './support/ends.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { guarded, udp } from './support/opened.ts';
import { noNsd, startNsd } from './support/realServer.ts';

const NAMES = 200;
const ROUNDS = 20;
/** As a resolver does it: it asks again where nothing comes, and over TCP where it is told to. */
const PATIENCE_MS = 800;
/** More than a resolver makes: a loaded machine is late by itself. */
const ATTEMPTS = 40;

/** Resolves with the answers that users got, as their resolvers do. */
async function resolved(client: UdpClient, target: Target, names: readonly string[]) {
  const waiting = new Map(names.map((name, id) => [id, name]));
  const answers: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && waiting.size > 0; attempt++) {
    client.answers.clear();
    for (const [id, name] of waiting) client.send(query(name, QueryType.A, id), target);
    await client.wait(() => client.answers.size === waiting.size, PATIENCE_MS);
    const truncated: Buffer[] = [];
    for (const [id, answer] of client.answers) {
      // A late one, to what was asked before.
      if (!waiting.has(id)) continue;
      if (answer.truncated) truncated.push(query(waiting.get(id) ?? '', QueryType.A, id));
      else answers.push(answer.answers);
      waiting.delete(id);
    }
    if (truncated.length > 0) answers.push(...(await askTcp(truncated, target)).map((one) => one.answers));
  }
  return answers;
}

it('users are answered through the guard by NSD with its own limit on, also for one hot name', async (ctx) => {
  if (noNsd) return ctx.skip(noNsd);
  const nsd = await startNsd(ZONE_NAME, ZONE_TEXT, { limitsRate: true });
  atEnd(() => nsd.stop());
  const { target, plane } = await guarded({}, { servers: [nsd], probeName: ZONE_NAME });
  const client = await udp();
  const all = Array.from({ length: NAMES }, (_, i) => `h${i}.${ZONE_NAME}`);
  for (let round = 0; round < ROUNDS; round++)
    expect(await resolved(client, target, all)).toEqual(all.map(() => 1));
  // One name from many, faster than the 200 a second that NSD answers to one address.
  const hot = Array.from({ length: 1000 }, () => `www.${ZONE_NAME}`);
  await until('NSD limits it', async () => {
    expect(await resolved(client, target, hot)).toEqual(hot.map(() => 1));
    return plane.tcp.counts.accepted > 0;
  });
  expect(plane.servers[0]?.up).toBe(true);
});

it("the guard's own limit cuts what goes to one network to TC=1, and nobody else", async () => {
  const { target, plane } = await guarded({}, { responseRateLimit: { perSecond: 1, slip: 1 } });
  const [victim, other] = await Promise.all([udp('127.0.5.1'), udp('127.0.6.1')]);
  const whole = (client: UdpClient) => [...client.answers.values()].filter(({ answers }) => answers > 0);
  await victim.askAll(
    Array.from({ length: 200 }, (_, id) => query(`www.${ZONE_NAME}`, QueryType.A, id)),
    target,
  );
  expect(whole(victim).length).toBeLessThan(100);
  expect([...victim.answers.values()].filter(({ truncated }) => truncated).length).toBe(
    200 - whole(victim).length,
  );
  expect(plane.limited().truncated).toBeGreaterThanOrEqual(100);
  expect(await other.ask(query(`www.${ZONE_NAME}`), target)).toMatchObject({ answers: 1, truncated: false });
  const [overTcp] = await askTcp([query(`www.${ZONE_NAME}`)], target);
  expect(overTcp).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
});
