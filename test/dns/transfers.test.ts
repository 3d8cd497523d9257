import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameToWire, QueryType, Question, ReadResult, readQuery } from '../../src/dns/protocol/index.ts';
import { transferZone } from '../../src/dns/zones/index.ts';
import { parseNetwork } from '../../src/platform/addresses/index.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, openUdpClient, startGuarded } from './support/clients.ts';
import { query, questionBytes, RCODE, type Target, withEdns } from './support/dnsClient.ts';
import { RULE, TestRules, ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noNsd, startNsd } from './support/realServer.ts';
import { startRecordingServer } from './support/recordingServer.ts';
import { framed, TcpClient } from './support/tcpClient.ts';

const LOOPBACK = '127.0.0.1';
const DIG = '/usr/bin/dig';
const run = promisify(execFile);

/** Starts an NSD that allows every loopback client to transfer the zone, as seeding by transfer needs. */
async function generousNsd(text = ZONE_TEXT): Promise<Target> {
  const nsd = await startNsd(ZONE_NAME, text);
  atEnd(() => nsd.stop());
  return nsd;
}

const changed = (
  packet: Buffer,
  ...changes: readonly (readonly [offset: number, byte: number])[]
): Buffer => {
  const copy = Buffer.from(packet);
  for (const [offset, byte] of changes) copy[offset] = byte;
  return copy;
};
const axfr = query(ZONE_NAME, QueryType.AXFR, 7);
/** Contains the SOA record of the client's version (RFC 1995, 3), with serial number 0. */
const ixfr = (() => {
  const data = Buffer.concat([Uint8Array.of(0, 0), Buffer.alloc(20)]);
  const soa = Buffer.from([0xc0, 12, 0, QueryType.SOA, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return changed(Buffer.concat([query(ZONE_NAME, QueryType.IXFR, 8), soa, data]), [9, 1]);
})();
/** Signed with an unknown key: permission depends on the address alone. */
const signed = (() => {
  const data = Buffer.concat([nameToWire('hmac-sha256'), Buffer.alloc(16 + 32)]);
  const head = Buffer.from([0, 250, 0, 255, 0, 0, 0, 0, 0, data.length]);
  return changed(Buffer.concat([axfr, nameToWire('key'), head, data]), [11, 1]);
})();
const good = query(`www.${ZONE_NAME}`, QueryType.A, 9);
const PLACES = [
  ['an enabled rule', RULE],
  ['a monitoring rule', { ...RULE, mode: 'monitoring' }],
  ['a disabled rule', { ...RULE, mode: 'disabled' }],
  ['no rule', undefined],
] as const;

describe('a zone transfer from a network that is not allowed', () => {
  it.each(PLACES)('is refused over TCP and UDP with %s', async (_, rule) => {
    const { target, plane } = await startGuarded(rule, noNsd ? {} : { servers: [await generousNsd()] });
    const [overUdp, overTcp] = [await openUdpClient(), await openTcpClient(target)];
    for (const asked of [axfr, ixfr, withEdns(axfr, 4096), signed])
      for (const answer of [await overUdp.ask(asked, target), await overTcp.ask(asked)]) {
        expect(answer).toMatchObject({ id: asked.readUInt16BE(0), rcode: RCODE.REFUSED, answers: 0 });
        expect(answer?.bytes.subarray(12, axfr.length)).toEqual(questionBytes(asked, axfr));
      }
    expect(await overTcp.ask(good)).toMatchObject({ rcode: RCODE.NOERROR, answers: 1 });
    expect(plane.packets().transfer).toBe(4);
    expect(plane.tcp.counts).toMatchObject({ transfers: { refused: 4, allowed: 0 } });
  });

  it('is refused if protection is off', async () => {
    const { target } = await startGuarded(RULE, { guarded: false });
    expect(await (await openUdpClient()).ask(axfr, target)).toMatchObject({ rcode: RCODE.REFUSED });
    expect(await (await openTcpClient(target)).ask(axfr)).toMatchObject({ rcode: RCODE.REFUSED });
  });

  it('reaches no server by any trick, while the queries around it do', async () => {
    const server = await startRecordingServer();
    atEnd(() => server.stop());
    const { target } = await startGuarded(RULE, {
      servers: [server],
      transfersAllow: ['192.0.2.0/24', '2001:db8::/32'].map(parseNetwork),
    });
    const client = await openTcpClient(target);
    client.send(good, axfr, good);
    expect((await client.received(3)).map(({ rcode }) => rcode).sort()).toEqual([0, 0, RCODE.REFUSED]);
    for (const byte of framed(changed(axfr, [1, 77]))) client.socket.write(Uint8Array.of(byte));
    expect((await client.received(4))[3]).toMatchObject({ id: 77, rcode: RCODE.REFUSED });
    const end = axfr.length;
    const tricks: readonly (readonly [Buffer, number])[] = [
      [changed(axfr, [end - 1, 255]), RCODE.REFUSED],
      [changed(axfr, [end - 1, 3]), RCODE.REFUSED],
      [Buffer.concat([axfr, Buffer.alloc(500)]), RCODE.REFUSED],
      [changed(axfr, [2, 0x01], [3, 0x30]), RCODE.REFUSED],
      [changed(Buffer.concat([good, axfr.subarray(12)]), [5, 2]), RCODE.FORMERR],
      [changed(Buffer.concat([axfr, good.subarray(12)]), [5, 2]), RCODE.FORMERR],
      [changed(axfr, [5, 0]), RCODE.FORMERR],
      [changed(axfr, [4, 1]), RCODE.FORMERR],
      [Buffer.concat([axfr.subarray(0, 12), Uint8Array.of(0xc0, 12, 0, 252, 0, 1)]), RCODE.FORMERR],
      [changed(axfr, [12, 0x41]), RCODE.FORMERR],
      [axfr.subarray(0, end - 1), RCODE.FORMERR],
      [Buffer.concat([axfr, Buffer.alloc(5000)]), RCODE.FORMERR],
      [changed(axfr, [2, 4 << 3]), RCODE.NOTIMP],
      [changed(axfr, [2, 5 << 3]), RCODE.NOTIMP],
      [changed(axfr, [2, 6 << 3]), RCODE.NOTIMP],
    ];
    for (const [packet, rcode] of tricks)
      expect(await client.ask(packet), packet.toString('hex')).toMatchObject({ rcode, answers: 0 });
    expect(await client.ask(good)).toMatchObject({ rcode: RCODE.NOERROR });
    expect(server.asked.map((packet) => packet.toString('hex'))).toEqual(Array(3).fill(good.toString('hex')));
    for (const packet of [changed(axfr, [2, 0x80]), axfr.subarray(0, 11), Buffer.alloc(0)]) {
      const closed = await openTcpClient(target);
      await closed.send(packet, good).ended();
      expect(closed.answers).toEqual([]);
    }
    expect(server.asked).toHaveLength(3);
  });

  it('reaches no server with any bytes over TCP, in chunks of any size', async () => {
    const server = await startRecordingServer();
    atEnd(() => server.stop());
    const { target } = await startGuarded(RULE, { servers: [server] });
    const message = fc
      .tuple(
        fc.constantFrom(axfr, ixfr, signed, good, withEdns(good, 1232)),
        fc.array(fc.tuple(fc.nat(40), fc.nat(255)), { maxLength: 3 }),
        fc.nat(3),
      )
      .map(([packet, changes, cut]) =>
        changed(
          packet.subarray(0, packet.length - (cut === 3 ? 1 : 0)),
          ...changes.filter(([at]) => at < packet.length - 1),
        ),
      );
    const stream = fc.array(
      fc.oneof(
        { weight: 9, arbitrary: message.map(framed) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }) },
      ),
      {
        maxLength: 12,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        stream,
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        async (parts, sizes) => {
          const client = await TcpClient.open(target);
          const bytes = Buffer.concat(parts);
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const size = sizes[i % sizes.length] ?? 1;
            client.socket.write(bytes.subarray(at, at + size));
            at += size;
          }
          client.socket.end();
          await client.ended();
        },
      ),
      { numRuns: 150 },
    );
    const question = new Question();
    for (const packet of server.asked) {
      expect(readQuery(packet, { high: 1, low: 1 }, question)).toBe(ReadResult.ok);
      expect([QueryType.AXFR, QueryType.IXFR]).not.toContain(question.type);
    }
    expect(server.asked.length).toBeGreaterThan(50);
    expect(await (await openTcpClient(target)).ask(good)).toMatchObject({ rcode: RCODE.NOERROR });
  });
});

describe('a zone transfer from an allowed network', () => {
  const BIG = `${ZONE_TEXT}\n${Array.from({ length: 50_000 }, (_, i) => `big${i} A 192.0.2.1`).join('\n')}\n`;
  const records = (text: string): number => text.split('\n').filter((line) => /\sIN\s/.test(line)).length;
  const dig = async (target: Target, from: string, ...words: string[]): Promise<string> =>
    (
      await run(
        DIG,
        [
          `@${target.host}`,
          '-p',
          String(target.port),
          '-b',
          from,
          '+noall',
          '+answer',
          '+comments',
          ZONE_NAME,
          ...words,
        ],
        { maxBuffer: 1 << 26 },
      )
    ).stdout;

  it('is complete over TCP with 50,000 records, and is refused to other networks and over UDP', async (ctx) => {
    if (noNsd) return ctx.skip(noNsd);
    const nsd = await generousNsd(BIG);
    const { target, plane } = await startGuarded(RULE, {
      servers: [nsd],
      transfersAllow: ['127.0.0.4/30', '127.0.1.9'].map(parseNetwork),
    });
    let count = 0;
    await expect(transferZone(ZONE_NAME, target).next()).rejects.toThrow('answered REFUSED');
    const direct: string[] = [];
    for await (const { owner } of transferZone(ZONE_NAME, nsd))
      direct.push(Buffer.from(owner).toString('hex'));
    expect(direct.length).toBeGreaterThan(50_000);
    const client = await openTcpClient(target, '127.0.1.9');
    client.send(good, axfr, good);
    await until('the complete zone to be received', () => {
      count = client.answers.reduce((sum, { answers }) => sum + answers, 0);
      return client.closed || count >= direct.length + 3;
    });
    // The SOA record is at both ends; the queries before and after the transfer have one answer each.
    expect(count).toBe(direct.length + 1 + 2);
    if (existsSync(DIG)) {
      expect(records(await dig(target, '127.0.0.6', 'AXFR'))).toBe(direct.length + 1);
      expect(await dig(target, '127.0.0.6', 'IXFR=0')).toContain('status: NOERROR');
      await expect(
        dig(target, '127.0.0.8', 'AXFR').then((text) => text.match(/Transfer failed/)?.[0]),
      ).resolves.toBe('Transfer failed');
    }
    expect(await (await openUdpClient('127.0.0.6')).ask(axfr, target)).toMatchObject({
      rcode: RCODE.REFUSED,
    });
    expect(await (await openUdpClient('127.0.0.6')).ask(ixfr, target)).toMatchObject({
      rcode: RCODE.REFUSED,
    });
    expect(plane.tcp.counts.transfers.allowed).toBeGreaterThanOrEqual(1);
    // A client that has closed the connection after the transfer occupies no slot.
    client.close();
    await until('all slots to be free', () => plane.tcp.serverConnections === 0);
  });

  it('is recognised by its IPv4 address if the guard listens on both address families', async (ctx) => {
    if (noNsd) return ctx.skip(noNsd);
    const { target } = await startGuarded(RULE, {
      servers: [await generousNsd()],
      listen: [{ host: '::', port: 0 }],
      transfersAllow: ['127.0.0.5'].map(parseNetwork),
    });
    const at = { host: LOOPBACK, port: target.port };
    expect((await (await openTcpClient(at, '127.0.0.5')).ask(axfr))?.answers).toBeGreaterThan(200);
    expect(await (await openTcpClient(at, '127.0.0.6')).ask(axfr)).toMatchObject({ rcode: RCODE.REFUSED });
    expect(await (await openTcpClient({ host: '::1', port: target.port })).ask(axfr)).toMatchObject({
      rcode: RCODE.REFUSED,
    });
  });

  it('is not needed for seeding: the guard transfers from the server itself', async (ctx) => {
    if (noNsd) return ctx.skip(noNsd);
    const nsd = await generousNsd();
    const { guard, target } = await startGuarded(RULE, {
      servers: [nsd],
      rules: new TestRules([RULE]),
      zones: [{ name: ZONE_NAME, transferFrom: nsd }],
      seed: false,
    });
    await until(
      'the zone to be seeded',
      () => guard.detector.zones.get(ZONE_NAME) !== undefined && guard.detector.profile.size > 200,
    );
    expect(await (await openTcpClient(target)).ask(axfr)).toMatchObject({ rcode: RCODE.REFUSED, answers: 0 });
  });
});

it('NOTIFY, UPDATE and all other opcodes are answered NOTIMP over UDP and TCP, and reach no server', async () => {
  const server = await startRecordingServer();
  atEnd(() => server.stop());
  const { target } = await startGuarded(RULE, { servers: [server] });
  const [overUdp, overTcp] = [await openUdpClient(), await openTcpClient(target)];
  for (let opcode = 1; opcode < 16; opcode++) {
    const packet = changed(query(ZONE_NAME, QueryType.SOA, opcode), [2, opcode << 3]);
    expect(await overUdp.ask(packet, target)).toMatchObject({ id: opcode, rcode: RCODE.NOTIMP });
    expect(await overTcp.ask(packet)).toMatchObject({ id: opcode, rcode: RCODE.NOTIMP });
  }
  expect(await overTcp.ask(good)).toMatchObject({ rcode: RCODE.NOERROR });
  expect(server.asked).toHaveLength(1);
});
