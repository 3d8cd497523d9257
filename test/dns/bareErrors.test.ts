/**
 * Error answers without a question section. NSD and others send them, RFC 1035 does not forbid them, and clients
 * accept them.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { NO_NEWER_NODE, newerNode } from '../support/newerNode.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { type BareResponse, startBareServer } from './support/bareServer.ts';
import { openTcpClient, openUdpClient, startGuarded } from './support/clients.ts';
import { query, RCODE, type Target, type UdpClient } from './support/dnsClient.ts';
import { startFaultyServer } from './support/faultyServer.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noDnsdist, startDnsdist } from './support/realDnsdist.ts';
import { noNsd, startNsd } from './support/realServer.ts';
import type { GuardState } from './support/threadedGuard.ts';

const HS_CLASS = 4;

/** An OPT record with the upper eight bits of a response code. */
const opt = (upper: number): Buffer => Buffer.from([0, 0, 41, 4, 208, upper, 0, 0, 0, 0, 0]);
/** A TSIG record of key `k` with the error BADKEY, without a signature (RFC 8945, 5.2.1). */
const TSIG = Buffer.from(
  '016b0000fa00ff00000000001d0b686d61632d7368613235360000006b0b28e7012c0000000000110000',
  'hex',
);
const A_RECORD = Buffer.from([0, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);

const TAKEN: Readonly<Record<string, BareResponse>> = {
  formerr: { rcode: RCODE.FORMERR },
  servfail: { rcode: RCODE.SERVFAIL },
  notimp: { rcode: RCODE.NOTIMP },
  refused: { rcode: RCODE.REFUSED },
  'refused-opt': { rcode: RCODE.REFUSED, records: opt(0), counts: [0, 0, 1] },
  badvers: { rcode: 0, records: opt(1), counts: [0, 0, 1] },
  notauth: { rcode: RCODE.NOTAUTH, records: TSIG, counts: [0, 0, 1] },
  'notauth-opt': { rcode: RCODE.NOTAUTH, records: Buffer.concat([opt(0), TSIG]), counts: [0, 0, 2] },
};
const LEFT: Readonly<Record<string, BareResponse>> = {
  noerror: { rcode: RCODE.NOERROR },
  nxdomain: { rcode: RCODE.NXDOMAIN },
  yxdomain: { rcode: 6 },
  // Response code 21 (BADALG): its lower four bits equal REFUSED.
  badalg: { rcode: RCODE.REFUSED, records: opt(1), counts: [0, 0, 1] },
  'answer-record': { rcode: RCODE.REFUSED, records: A_RECORD, counts: [1, 0, 0] },
  'authority-record': { rcode: RCODE.REFUSED, records: A_RECORD, counts: [0, 1, 0] },
  'other-additional': { rcode: RCODE.REFUSED, records: A_RECORD, counts: [0, 0, 1] },
  'two-opts': { rcode: RCODE.REFUSED, records: Buffer.concat([opt(0), opt(0)]), counts: [0, 0, 2] },
  'tsig-before-opt': { rcode: RCODE.NOTAUTH, records: Buffer.concat([TSIG, opt(0)]), counts: [0, 0, 2] },
  'two-tsigs': { rcode: RCODE.NOTAUTH, records: Buffer.concat([TSIG, TSIG]), counts: [0, 0, 2] },
  'tsig-cut': { rcode: RCODE.NOTAUTH, records: TSIG.subarray(0, -1), counts: [0, 0, 1] },
  'opt-cut': { rcode: RCODE.REFUSED, records: opt(0).subarray(0, 8), counts: [0, 0, 1] },
};

/** Returns a query with a TSIG record of a key that no server has. */
function signed(packet: Buffer): Buffer {
  const whole = Buffer.concat([packet, TSIG]);
  whole.writeUInt16BE(1, 10);
  return whole;
}

async function fake(responses: Readonly<Record<string, BareResponse>>): Promise<Target> {
  const server = await startBareServer(responses);
  atEnd(() => server.stop());
  return server;
}

/** Expects the server's complete answer with the client's id. */
async function expectTaken(client: UdpClient, target: Target, label: string): Promise<void> {
  const { rcode, records = Buffer.alloc(0) } = TAKEN[label] as BareResponse; // `label` is one of its keys
  const { bytes } = await client.ask(query(`${label}.${ZONE_NAME}`, QueryType.A, 7), target);
  expect([label, bytes.readUInt16BE(0), bytes[3], bytes.subarray(12)]).toEqual([label, 7, rcode, records]);
}

it.each(Object.keys(TAKEN))('an answer "%s" without a question section reaches the client', async (label) => {
  const { target, guard, plane } = await startGuarded({}, { servers: [await fake(TAKEN)], seed: false });
  await expectTaken(await openUdpClient(), target, label);
  expect(plane.servers[0]).toMatchObject({ answered: 1, mismatched: 0 });
  const { rcode, records = Buffer.alloc(0) } = TAKEN[label] as BareResponse; // `label` is one of its keys
  const overTcp = await (await openTcpClient(target)).ask(query(`${label}.${ZONE_NAME}`, QueryType.A, 8));
  expect([overTcp?.id, overTcp?.bytes[3], overTcp?.bytes.subarray(12)]).toEqual([8, rcode, records]);
  // The answer teaches neither a name nor the zone's share of nonexistent names.
  expect([guard.detector.profile.size, guard.detector.zones.outside.answers]).toEqual([0, 0]);
});

it.each(Object.keys(LEFT))(
  'an answer "%s" without a question section is discarded as mismatched',
  async (label) => {
    const { target, plane } = await startGuarded({}, { servers: [await fake(LEFT)] });
    const client = await openUdpClient();
    client.send(query(`${label}.${ZONE_NAME}`, QueryType.A, 7), target);
    await until('the answer to be counted as mismatched', () => plane.servers[0]?.mismatched === 1);
    // The guard forwards an accepted answer before it reads the next packet, so one query after it suffices.
    await client.ask(query(`h1.${ZONE_NAME}`, QueryType.A, 8), target);
    expect([...client.answers.keys()]).toEqual([8]);
  },
);

const node = newerNode();
it.skipIf(node === undefined)(
  `threads relay error answers without a question section${node ? '' : ` (${NO_NEWER_NODE})`}`,
  async () => {
    const guard = fileURLToPath(new URL('./support/threadedGuard.ts', import.meta.url));
    const { host, port } = await fake(TAKEN);
    const args = ['2', '0', JSON.stringify([{ host, port }])];
    const child = fork(guard, args, { execPath: node, execArgv: [] });
    atEnd(() => child.kill('SIGKILL'));
    const [{ port: listening }] = (await once(child, 'message')) as [GuardState]; // the first message of the child
    const client = await openUdpClient();
    for (const label of Object.keys(TAKEN))
      await expectTaken(client, { host: '127.0.0.1', port: listening }, label);
  },
);

it('dnsdist relays error answers without a question section, except BADVERS', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const dnsdist = await startDnsdist(await fake(TAKEN));
  atEnd(() => dnsdist.stop());
  const client = await openUdpClient();
  client.send(query(`badvers.${ZONE_NAME}`, QueryType.A, 1), dnsdist);
  for (const label of Object.keys(TAKEN)) if (label !== 'badvers') await expectTaken(client, dnsdist, label);
  expect([...client.answers.keys()]).toEqual([7]);
});

it('a server that answers health probes without a question section stays in use over UDP and TCP', async () => {
  // Without configured zones, a probe queries the root.
  const bare = await fake({ '': { rcode: RCODE.REFUSED } });
  const other = await startFaultyServer();
  atEnd(() => other.stop());
  const { plane } = await startGuarded({}, { servers: [bare, other] });
  await until('both servers to be probed over UDP and TCP', () => other.probed >= 5);
  expect([plane.servers.map(({ up }) => up), plane.tcp.serversUp]).toEqual([[true, true], 2]);
});

it('a signature that NSD rejects is answered, and shows nothing about the health of the servers', async (ctx) => {
  if (noNsd) return ctx.skip(noNsd);
  const nsd = await startNsd(ZONE_NAME, ZONE_TEXT);
  atEnd(() => nsd.stop());
  const { target, plane } = await startGuarded({}, { servers: [nsd], probeName: ZONE_NAME });
  const client = await openUdpClient();
  for (let id = 1; id <= 50; id++) {
    const { rcode, bytes } = await client.ask(signed(query(`h1.${ZONE_NAME}`, QueryType.A, id)), target);
    expect([rcode, bytes.readUInt16BE(4), bytes.readUInt16BE(10)]).toEqual([RCODE.NOTAUTH, 0, 1]);
  }
  expect(plane.servers[0]).toMatchObject({ mismatched: 0, timedOut: 0 });
});

it("queries of class HS do not take NSD out of use, and clients receive NSD's own answers", async (ctx) => {
  if (noNsd) return ctx.skip(noNsd);
  const nsd = await startNsd(ZONE_NAME, ZONE_TEXT);
  const other = await startFaultyServer();
  atEnd(
    () => nsd.stop(),
    () => other.stop(),
  );
  const hesiod = (id: number): Buffer => {
    const packet = query(`h1.${ZONE_NAME}`, QueryType.A, id);
    packet.writeUInt16BE(HS_CLASS, packet.length - 2);
    return packet;
  };
  const client = await openUdpClient();
  const direct = await client.ask(hesiod(1), nsd);
  expect([direct.rcode, direct.bytes.length]).toEqual([RCODE.REFUSED, 12]);
  const alone = await startGuarded({}, { servers: [nsd] });
  expect((await client.ask(hesiod(1), alone.target)).bytes).toEqual(direct.bytes);
  expect((await (await openTcpClient(alone.target)).ask(hesiod(1)))?.bytes).toEqual(direct.bytes);

  // Enough queries to compare the servers: see `ENOUGH` of serverHealth.ts.
  const { target, plane } = await startGuarded({}, { servers: [nsd, other], probeName: ZONE_NAME });
  for (let from = 0; from < 400; from += 20) {
    client.answers.clear();
    await client.askAll(
      Array.from({ length: 20 }, (_, i) => hesiod(from + i)),
      target,
      5000,
    );
  }
  expect(plane.servers.map(({ up }) => up)).toEqual([true, true]);
  expect(plane.servers[0]).toMatchObject({ mismatched: 0, retried: 0 });
});
