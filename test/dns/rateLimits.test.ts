import { expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openUdpClient, startGuarded } from './support/clients.ts';
import { askTcp, query, RCODE, type Target, type UdpClient } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noNsd, startNsd } from './support/realServer.ts';

const NAMES = 200;
const ROUNDS = 20;
/** Time until a retry, as in a resolver. Truncated answers are queried again over TCP. */
const PATIENCE_MS = 800;
/** More attempts than a resolver makes, because a loaded machine is slow. */
const ATTEMPTS = 40;

/** Queries all names as resolvers do, and returns the numbers of answer records. */
async function resolved(client: UdpClient, target: Target, names: readonly string[]) {
  const waiting = new Map(names.map((name, id) => [id, name]));
  const answers: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && waiting.size > 0; attempt++) {
    client.answers.clear();
    for (const [id, name] of waiting) client.send(query(name, QueryType.A, id), target);
    await client.wait(() => client.answers.size === waiting.size, PATIENCE_MS);
    const truncated: Buffer[] = [];
    for (const [id, answer] of client.answers) {
      // A late answer to an earlier query.
      if (!waiting.has(id)) continue;
      if (answer.truncated) truncated.push(query(waiting.get(id) ?? '', QueryType.A, id));
      else answers.push(answer.answers);
      waiting.delete(id);
    }
    if (truncated.length > 0) answers.push(...(await askTcp(truncated, target)).map((one) => one.answers));
  }
  return answers;
}

it('NSD with its own rate limit answers all users through the guard, also for one popular name', async (ctx) => {
  if (noNsd) return ctx.skip(noNsd);
  const nsd = await startNsd(ZONE_NAME, ZONE_TEXT, { limitsRate: true });
  atEnd(() => nsd.stop());
  const { target, plane } = await startGuarded({}, { servers: [nsd], probeName: ZONE_NAME });
  const client = await openUdpClient();
  const all = Array.from({ length: NAMES }, (_, i) => `h${i}.${ZONE_NAME}`);
  for (let round = 0; round < ROUNDS; round++)
    expect(await resolved(client, target, all)).toEqual(all.map(() => 1));
  // One popular name, faster than the 200 answers a second that NSD sends to one address.
  const hot = Array.from({ length: 1000 }, () => `www.${ZONE_NAME}`);
  await until('NSD to truncate answers', async () => {
    expect(await resolved(client, target, hot)).toEqual(hot.map(() => 1));
    return plane.tcp.counts.accepted > 0;
  });
  expect(plane.servers[0]?.up).toBe(true);
});

it('responseRateLimit truncates answers to one network only', async () => {
  const { target, plane } = await startGuarded({}, { responseRateLimit: { perSecond: 1 } });
  const [victim, other] = await Promise.all([openUdpClient('127.0.5.1'), openUdpClient('127.0.6.1')]);
  const whole = (client: UdpClient) => [...client.answers.values()].filter(({ answers }) => answers > 0);
  await victim.askAll(
    Array.from({ length: 200 }, (_, id) => query(`www.${ZONE_NAME}`, QueryType.A, id)),
    target,
  );
  expect(whole(victim).length).toBeLessThan(100);
  expect([...victim.answers.values()].filter(({ truncated }) => truncated).length).toBe(
    200 - whole(victim).length,
  );
  expect(plane.limited()).toBeGreaterThanOrEqual(100);
  expect(await other.ask(query(`www.${ZONE_NAME}`), target)).toMatchObject({ answers: 1, truncated: false });
  const [overTcp] = await askTcp([query(`www.${ZONE_NAME}`)], target);
  expect(overTcp).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
});
