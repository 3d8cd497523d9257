import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, openUdpClient } from './support/clients.ts';
import { query, RCODE, type Target, type UdpClient } from './support/dnsClient.ts';
import { type FaultMode, type FaultyServer, startFaultyServer } from './support/faultyServer.ts';
import { startGuardInFront, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noNsd, type RealServer, startNsd } from './support/realServer.ts';
import type { GuardState, ToGuard } from './support/threadedGuard.ts';

const WAYS = [
  'silent',
  'late',
  'wrongId',
  'otherQuestion',
  'servfail',
] as const satisfies readonly FaultMode[];
const BATCH = 20;
const COUNTED = 400;
/** Longer than the guard waits for a server: queries without an answer by then stay unanswered. */
const GIVEN_UP_MS = 4000;

/** Queries names of the zone in batches, and returns how many answers were NOERROR. */
async function answeredOf(client: UdpClient, target: Target, count: number): Promise<number> {
  let answered = 0;
  for (let from = 0; from < count; from += BATCH) {
    client.answers.clear();
    for (let i = 0; i < BATCH; i++)
      client.send(query(`h${(from + i) % 200}.${ZONE_NAME}`, QueryType.A, i), target);
    await client.wait(() => client.answers.size === BATCH, GIVEN_UP_MS);
    answered += [...client.answers.values()].filter(({ rcode }) => rcode === RCODE.NOERROR).length;
  }
  return answered;
}

let well: RealServer;
beforeAll(async () => {
  if (!noNsd) well = await startNsd(ZONE_NAME, ZONE_TEXT);
});
afterAll(() => well?.stop());

interface Guarded {
  readonly target: Target;
  /** For each server, whether it is in use. */
  inUse(): Promise<readonly boolean[]> | readonly boolean[];
}

/**
 * Breaks all servers except the last, each in its own way. Clients must be answered, and a repaired server must be
 * used again.
 */
async function goesAround(
  start: (...servers: readonly Target[]) => Promise<Guarded>,
  ways: readonly FaultMode[],
): Promise<void> {
  const broken = await Promise.all(ways.map(() => liar()));
  const { target, inUse } = await start(...broken, well);
  const client = await openUdpClient();
  await until('all queries to be answered', async () => (await answeredOf(client, target, 200)) === 200);
  for (const [index, server] of broken.entries()) server.mode = ways[index] ?? 'right';
  await until('the broken servers to be taken out of use', async () => {
    await answeredOf(client, target, BATCH);
    return (await inUse()).slice(0, -1).every((isUsed) => !isUsed);
  });
  // On a loaded machine a good server is late now and then; a broken server in use would cost part of every batch.
  await until(
    '99 % of the queries to be answered',
    async () => (await answeredOf(client, target, COUNTED)) >= COUNTED * 0.99,
  );
  for (const server of broken) server.mode = 'right';
  await until('all servers to be in use again', async () => {
    await answeredOf(client, target, COUNTED);
    return (await inUse()).every((isUsed) => isUsed);
  });
}

async function liar(): Promise<FaultyServer> {
  const server = await startFaultyServer();
  atEnd(() => server.stop());
  return server;
}

async function oneThread(...servers: readonly Target[]): Promise<Guarded> {
  const { target, plane, stop } = await startGuardInFront({}, { servers, probeName: ZONE_NAME });
  atEnd(() => stop());
  return { target, inUse: () => plane.servers.map(({ up }) => up) };
}

const GUARD = fileURLToPath(new URL('./support/threadedGuard.ts', import.meta.url));
const node = newerNode();
async function threads(...servers: readonly Target[]): Promise<Guarded> {
  const addresses = JSON.stringify(servers.map(({ host, port }) => ({ host, port })));
  const child = fork(GUARD, ['2', '0', addresses], { execPath: node, execArgv: [] });
  atEnd(() => child.kill('SIGKILL'));
  const heard = async (): Promise<GuardState> => (await once(child, 'message'))[0];
  const { port } = await heard();
  return {
    target: { host: '127.0.0.1', port },
    async inUse() {
      const answer = heard();
      child.send('state' satisfies ToGuard);
      return (await answer).inUse;
    },
  };
}

describe.skipIf(noNsd !== undefined)(`servers that fail${noNsd ? ` (${noNsd})` : ''}`, () => {
  it('do not affect clients if one of two servers fails in any way: the other answers', async () => {
    await Promise.all(WAYS.map((way) => goesAround(oneThread, [way])));
  });

  it.skipIf(node === undefined)(
    `do not affect clients if all but one fail, each in its own way, with several threads${node ? '' : ` (${NO_NEWER_NODE})`}`,
    () => goesAround(threads, WAYS),
  );

  it('do not affect TCP clients if one of two servers fails in any way: clients connected to it are answered by the other', async () => {
    await Promise.all(
      WAYS.map(async (way) => {
        const broken = await liar();
        const { target, plane, stop } = await startGuardInFront(
          {},
          { servers: [broken, well], probeName: ZONE_NAME },
        );
        atEnd(() => stop());
        // Some of these connections lead to the server that breaks.
        const clients = await Promise.all(Array.from({ length: 8 }, () => openTcpClient(target)));
        const askAll = () => Promise.all(clients.map((client) => client.ask(query(`h1.${ZONE_NAME}`))));
        await askAll();
        broken.mode = way;
        await until('the broken server to be taken out of use over TCP', () => plane.tcp.serversUp === 1);
        for (const client of clients)
          if (client.closed) clients[clients.indexOf(client)] = await openTcpClient(target);
        const again = await until('all connections to be answered', async () => {
          const answers = await askAll();
          for (const [index, client] of clients.entries())
            if (client.closed) clients[index] = await openTcpClient(target);
          return (
            answers.every((answer) => answer?.rcode === RCODE.NOERROR && answer.answers === 1) && answers
          );
        });
        expect(again).toHaveLength(clients.length);
        // If the broken server were still used, fifty in a row would not succeed. A loaded machine can make the good
        // server late, so this is retried.
        await until('fifty new connections in a row to be answered', async () => {
          for (let i = 0; i < 50; i++) {
            const client = await openTcpClient(target);
            const answer = await client.ask(query(`h${i}.${ZONE_NAME}`));
            client.close();
            if (answer?.answers !== 1) return false;
          }
          return true;
        });
        broken.mode = 'right';
        await until('the repaired server to be in use again over TCP', () => plane.tcp.serversUp === 2);
      }),
    );
  });

  it('are taken out of use, whether NSD is stopped or could not read its zone', async () => {
    const [still, unread] = await Promise.all([
      startNsd(ZONE_NAME, ZONE_TEXT),
      startNsd(ZONE_NAME, 'no zone at all ('),
    ]);
    atEnd(
      () => still.stop(),
      () => unread.stop(),
    );
    const { target, inUse } = await oneThread(still, unread, well);
    const client = await openUdpClient();
    still.setPaused(true);
    await until('both failing servers to be taken out of use', async () => {
      await answeredOf(client, target, BATCH);
      return (await inUse()).join() === 'false,false,true';
    });
    expect(await answeredOf(client, target, COUNTED)).toBeGreaterThanOrEqual(COUNTED * 0.99);
    still.setPaused(false);
    await until('the resumed server to be in use again', async () => (await inUse())[0]);
  });

  it('are still queried if no other server is left', async () => {
    const only = await liar();
    const { target, inUse } = await oneThread(only);
    const client = await openUdpClient();
    only.mode = 'servfail';
    for (let i = 0; i < 100; i++) client.send(query(`h${i}.${ZONE_NAME}`, QueryType.A, i), target);
    await until('the SERVFAIL answers of the only server to arrive', () => client.answers.size === 100);
    only.mode = 'silent';
    await until('the only server to be marked as down', async () => {
      client.send(query(`h1.${ZONE_NAME}`, QueryType.A, 1), target);
      return !(await inUse())[0];
    });
    only.mode = 'right';
    expect(await client.ask(query(`h1.${ZONE_NAME}`, QueryType.A, 2000), target)).toMatchObject({
      rcode: RCODE.NOERROR,
    });
  });

  it('stay in use if no server can answer certain names, and retries of these names are limited', async () => {
    const [one, two] = await Promise.all([liar(), liar()]);
    for (const server of [one, two]) server.servfailFor = 'h1';
    const { target, inUse } = await oneThread(one, two);
    const client = await openUdpClient();
    let asked = 0;
    // Every second query, so that a guard that alternates sends all of these to one server.
    for (let batch = 0; batch < 100; batch++) {
      client.answers.clear();
      for (let i = 0; i < BATCH; i++, asked++)
        client.send(query(`${i % 2 === 0 ? 'h1' : 'h2'}${asked % 10}.${ZONE_NAME}`, QueryType.A, i), target);
      await until('the batch to be answered', () => client.answers.size === BATCH);
    }
    expect(await inUse()).toEqual([true, true]);
    // At most a tenth more queries, plus the retry burst. Probes are subtracted; they add two a second.
    expect(one.asked + two.asked - one.probed - two.probed).toBeLessThanOrEqual(asked * 1.1 + 100);
  });
});
