/** Random names over TCP, pipelined: what goes past a guard that decides about UDP alone. */
import { describe, expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { type Answer, query, RCODE, type Target } from './support/dnsClient.ts';
import { atEnd } from './support/ends.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { guarded, tcp } from './support/opened.ts';
import { noNsd, startNsd } from './support/realServer.ts';
import type { TcpClient } from './support/tcpClient.ts';

const LOOPBACK = '127.0.0.1';
const ATTACKER = '127.0.2.1';
const PER_ROUND = 100;

let names = 0;
const random = (): Buffer => query(`x${names++}.${ZONE_NAME}`, QueryType.A, names % 65_536);
const known = (i: number): Buffer => query(`h${i % 200}.${ZONE_NAME}`, QueryType.A, i);
const count = (answers: readonly Answer[], rcode: number): number =>
  answers.filter((answer) => answer.rcode === rcode).length;

/** Asks for so many random names over one connection, a hundred ahead. */
async function flood(client: TcpClient, queries: number): Promise<readonly Answer[]> {
  for (let sent = 0; sent < queries; ) {
    for (let i = 0; i < PER_ROUND; i++, sent++) client.send(random());
    await client.received(sent);
    if (client.closed) break;
  }
  return client.answers;
}

async function nsd(): Promise<Target> {
  const server = await startNsd(ZONE_NAME, ZONE_TEXT);
  atEnd(() => server.stop());
  return server;
}

describe('random names over TCP', () => {
  if (noNsd) return void it.skip(`needs NSD: ${noNsd}`, () => {});

  it.each(['low', 'medium'] as const)('are refused beyond the rate of their client, at %s', async (level) => {
    const { target, guard, plane } = await guarded(
      { profile_sensitivity: level },
      { servers: [await nsd()], tcpMaxQueries: 10_000 },
    );
    guard.detector.tick(Date.now());
    const attacker = await tcp(target, ATTACKER);
    const answers = await flood(attacker, 2000);
    expect(answers.length).toBe(2000);
    expect(count(answers, RCODE.NXDOMAIN)).toBeLessThan(1000);
    expect(count(answers, RCODE.REFUSED)).toBeGreaterThan(1000);
    // Who asks for what is known is answered, also from the attacker's address and over its own connection.
    // Each connection is opened when its turn comes: one that asks nothing for two seconds is closed.
    for (const open of [() => attacker, () => tcp(target, ATTACKER), () => tcp(target)]) {
      const client = await open();
      for (let i = 0; i < 20; i++) expect(await client.ask(known(i))).toMatchObject({ rcode: RCODE.NOERROR });
    }
    // Another client's new name is no part of it.
    expect(await (await tcp(target)).ask(random())).toMatchObject({ rcode: RCODE.NXDOMAIN });
    expect(plane.tcp.counts.queries.reduce((all, one) => all + one)).toBeGreaterThan(2000);
    expect(guard.detector.attack).toBe(true);
  });
});

it('a connection has a number of queries, is answered all of them, and another one may follow', async () => {
  const { target, plane } = await guarded({}, { tcpMaxQueries: 50 });
  const client = await tcp(target, LOOPBACK);
  for (let i = 0; i < 80; i++) client.send(known(i));
  await client.ended();
  expect(client.answers.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  client.close();
  await until('it is counted', () => plane.tcp.counts.closed.many_queries === 1);
  expect(await (await tcp(target)).ask(known(1))).toMatchObject({ rcode: RCODE.NOERROR });
});
