import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serveZones, ZoneData } from '../../src/dns/authority/index.ts';
import { QueryType } from '../../src/dns/protocol/index.ts';
import { transferZone } from '../../src/dns/zones/index.ts';
import { type Network, parseNetwork } from '../../src/platform/addresses/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, openUdpClient } from './support/clients.ts';
import { query, questionBytes, RCODE, type Target, withEdns } from './support/dnsClient.ts';
import { waitUntilInForce } from './support/dnsdistInFront.ts';
import { driveDnsdist } from './support/driveDnsdist.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noDnsdist, type RealDnsdist, startDnsdist } from './support/realDnsdist.ts';
import { noNsd, startNsd } from './support/realServer.ts';
import type { TcpClient } from './support/tcpClient.ts';

const DIG = '/usr/bin/dig';
const run = promisify(execFile);

const axfr = query(ZONE_NAME, QueryType.AXFR, 7);
const ixfr = query(ZONE_NAME, QueryType.IXFR, 8);
const good = query(`www.${ZONE_NAME}`, QueryType.A, 9);
const changed = (packet: Buffer, offset: number, byte: number): Buffer => {
  const copy = Buffer.from(packet);
  copy[offset] = byte;
  return copy;
};

/** Expects from dnsdist every rejection that the embedded guard sends. */
async function expectRefusals(target: Target, from: string): Promise<void> {
  const overUdp = await openUdpClient(from);
  for (const asked of [axfr, ixfr, withEdns(axfr, 1232)]) {
    const answers = [await overUdp.ask(asked, target), await (await openTcpClient(target, from)).ask(asked)];
    for (const answer of answers) {
      expect(answer).toMatchObject({ rcode: RCODE.REFUSED, answers: 0 });
      expect(answer?.bytes.subarray(12, axfr.length)).toEqual(questionBytes(asked, axfr));
    }
  }
  const pipelined = await openTcpClient(target, from);
  const answers = await pipelined.send(good, axfr, good).received(3);
  expect(answers.map(({ rcode }) => rcode).sort()).toEqual([0, 0, RCODE.REFUSED]);
  await expectNoOtherOpcodes(target, from);
}
async function expectNoOtherOpcodes(target: Target, from: string): Promise<void> {
  const overUdp = await openUdpClient(from);
  for (const opcode of [4, 5]) {
    const packet = changed(query(ZONE_NAME, QueryType.SOA, opcode), 2, opcode << 3);
    expect(await overUdp.ask(packet, target)).toMatchObject({ rcode: RCODE.NOTIMP });
    expect(await (await openTcpClient(target, from)).ask(packet)).toMatchObject({ rcode: RCODE.NOTIMP });
  }
  const two = changed(Buffer.concat([good, axfr.subarray(12)]), 5, 2);
  expect(await overUdp.ask(two, target)).toMatchObject({ rcode: RCODE.FORMERR });
  expect(await (await openTcpClient(target, from)).ask(two)).toMatchObject({ rcode: RCODE.FORMERR });
}

async function records(target: Target): Promise<number> {
  let count = 0;
  for await (const _ of transferZone(ZONE_NAME, target)) count++;
  return count;
}
async function viaDig(target: Target, from: string): Promise<number> {
  const words = ['-p', String(target.port), '-b', from, '+noall', '+answer', ZONE_NAME, 'AXFR'];
  const { stdout } = await run(DIG, [`@${target.host}`, ...words], { maxBuffer: 1 << 26 });
  return stdout.split('\n').filter((line) => /\sIN\s/.test(line)).length;
}

it('dnsdist transfers zones only to allowed networks, with the generated configuration and under every rule', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  if (noNsd) return ctx.skip(noNsd);
  const hosts = Array.from({ length: 50_000 }, (_, i) => `big${i} A 192.0.2.1`).join('\n');
  const nsd = await startNsd(ZONE_NAME, `${ZONE_TEXT}\n${hosts}\n`);
  atEnd(() => nsd.stop());
  const transfersAllow: readonly Network[] = ['127.0.0.1', '127.0.3.0/24', '2001:db8::/32'].map(parseNetwork);
  const dnsdist: RealDnsdist = await startDnsdist(nsd, undefined, transfersAllow);
  atEnd(() => dnsdist.stop());
  const direct = await records(nsd);
  expect(direct).toBeGreaterThan(50_000);
  const expectAllowed = async (): Promise<void> => {
    expect(await records(dnsdist)).toBe(direct);
    if (existsSync(DIG)) expect(await viaDig(dnsdist, '127.0.3.9')).toBe(direct + 1);
    const overUdp = await openUdpClient('127.0.3.9');
    for (const asked of [axfr, ixfr])
      expect(await overUdp.ask(asked, dnsdist)).toMatchObject({ rcode: RCODE.REFUSED });
    await expectNoOtherOpcodes(dnsdist, '127.0.3.9');
  };
  await expectRefusals(dnsdist, '127.0.4.1');
  await expectAllowed();
  const rules = new TestRules([]);
  const guard = await driveDnsdist({
    rules,
    consoles: [dnsdist.console],
    key: dnsdist.key,
    dnstap: dnsdist.dnstap,
    folder: dnsdist.folder,
    transfersAllow,
    zones: [{ name: ZONE_NAME, transferFrom: nsd }],
    detector: { profile: { maxNames: 100_000 } },
  });
  atEnd(() => guard.stop());
  for (const current of [[], [RULE], [{ ...RULE, mode: 'disabled' as const }]]) {
    rules.set(...current);
    await waitUntilInForce(guard, rules);
    await expectRefusals(dnsdist, '127.0.4.1');
    await expectAllowed();
  }
  await until('the zone to be seeded', () => guard.dataPlane.knownNames() > 50_000);
});

it('dnsdist transfers no zone in response to a packet that is not a query', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  if (noNsd) return ctx.skip(noNsd);
  const nsd = await startNsd(ZONE_NAME, ZONE_TEXT);
  atEnd(() => nsd.stop());
  const dnsdist = await startDnsdist(nsd);
  atEnd(() => dnsdist.stop());
  const pointed = Buffer.concat([axfr.subarray(0, 12), Uint8Array.of(0xc0, 12, 0, 252, 0, 1)]);
  for (const packet of [pointed, changed(axfr, 5, 0), changed(axfr, 2, 0x80), axfr.subarray(0, 11)]) {
    const client = await openTcpClient(dnsdist, '127.0.4.1');
    client.send(packet, good);
    await until(
      'dnsdist to finish the connection',
      () => client.closed || client.answers.some(({ id }) => id === 9),
    );
    for (const { id, answers } of client.answers) expect([id, answers]).toEqual([id, id === 9 ? 1 : 0]);
  }
});

/** Shortest wait of resolvers before a retry. */
const RETRY_MS = 500;

it('dnsdist answers other clients while ten addresses hold a thousand idle connections', async (ctx) => {
  if (noDnsdist) return ctx.skip(noDnsdist);
  const server = await serveZones([new ZoneData(ZONE_TEXT, ZONE_NAME)], '127.0.0.1', 0);
  atEnd(() => server.stop());
  const dnsdist = await startDnsdist(server);
  atEnd(() => dnsdist.stop());
  await Promise.all(
    Array.from({ length: 1000 }, (_, i) => openTcpClient(dnsdist, `127.0.4.${1 + (i % 10)}`)),
  );
  // On a busy machine dnsdist's timeout of two seconds may pass before it reads the question; resolvers retry a
  // little later.
  const ATTEMPTS = 5;
  for (let i = 0; i < 20; i++) {
    let answer: Awaited<ReturnType<TcpClient['ask']>>;
    for (let attempt = 0; answer === undefined && attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(RETRY_MS);
      answer = await (await openTcpClient(dnsdist, '127.0.5.1')).ask(good);
    }
    expect(answer).toMatchObject({ rcode: RCODE.NOERROR });
  }
  // dnsdist allows 100 connections per address. All are closed in the end, because they are idle.
  const more = await Promise.all(Array.from({ length: 150 }, () => openTcpClient(dnsdist, '127.0.5.2')));
  await until(
    'dnsdist to close the connections above the limit',
    () => more.filter(({ closed }) => closed).length >= 50,
  );
});
