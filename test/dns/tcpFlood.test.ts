/** Pipelined queries for random names over TCP: an attack that a guard for UDP alone would miss. */
import { describe, expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, startGuarded } from './support/clients.ts';
import { type Answer, query, RCODE, type Target } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
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

/** Queries random names over one connection, with a hundred in flight. */
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

  it.each(['low', 'medium'] as const)(
    'are limited above the rate of their client at sensitivity %s',
    async (level) => {
      const { target, guard, plane } = await startGuarded(
        { profile_sensitivity: level },
        { servers: [await nsd()], tcpMaxQueries: 10_000 },
      );
      guard.detector.tick(Date.now());
      const attacker = await openTcpClient(target, ATTACKER);
      const answers = await flood(attacker, 2000);
      expect(answers.length).toBe(2000);
      expect(count(answers, RCODE.NXDOMAIN)).toBeLessThan(1000);
      expect(count(answers, RCODE.REFUSED)).toBeGreaterThan(1000);
      // Queries for known names are answered, also from the attacker's address and on its own connection. Each
      // connection is opened just before its use, because an idle one is closed after two seconds.
      for (const open of [
        () => attacker,
        () => openTcpClient(target, ATTACKER),
        () => openTcpClient(target),
      ]) {
        const client = await open();
        for (let i = 0; i < 20; i++)
          expect(await client.ask(known(i))).toMatchObject({ rcode: RCODE.NOERROR });
      }
      const users = await until('the queries of users to be counted', () => {
        const [attack] = guard.attacks.open();
        return attack !== undefined && attack.known_names.asked >= 60 && attack.known_names;
      });
      expect(users).toEqual({ asked: 60, answered: 60, limited: 0, would_drop: 0 });
      // A new name from another client is not limited.
      expect(await (await openTcpClient(target)).ask(random())).toMatchObject({ rcode: RCODE.NXDOMAIN });
      expect(plane.tcp.counts.queries.reduce((all, one) => all + one)).toBeGreaterThan(2000);
      expect(guard.detector.attack).toBe(true);
    },
  );
});

it('a connection is closed after its maximum number of queries, all of them answered, and the client may open another', async () => {
  const { target, plane } = await startGuarded({}, { tcpMaxQueries: 50 });
  const client = await openTcpClient(target, LOOPBACK);
  for (let i = 0; i < 80; i++) client.send(known(i));
  await client.ended();
  expect(client.answers.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, i) => i));
  client.close();
  await until('the closed connection to be counted', () => plane.tcp.counts.closed.many_queries === 1);
  expect(await (await openTcpClient(target)).ask(known(1))).toMatchObject({ rcode: RCODE.NOERROR });
});
