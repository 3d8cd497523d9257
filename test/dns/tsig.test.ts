import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { AttackDetector, ZoneSeed } from '../../src/dns/detector/index.ts';
import { nameToText, questionOf } from '../../src/dns/protocol/index.ts';
import { parseTsigKey, seedZones, type TsigKey, transferZone } from '../../src/dns/zones/index.ts';
import { QUIET } from '../../src/platform/logging/index.ts';
import { atEnd } from './support/atEnd.ts';
import type { Target } from './support/dnsClient.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { noKnot, startSigningKnot } from './support/realKnot.ts';
import { noNsd, type ServerKey, startNsd } from './support/realServer.ts';

const LOOPBACK = '127.0.0.1';
const secret = (): string => randomBytes(32).toString('base64');
const serverKey = (algorithm: string): ServerKey => ({ name: 'Transfer.key', algorithm, secret: secret() });
const keyOf = ({ algorithm, name, secret: text }: ServerKey): TsigKey =>
  parseTsigKey(`${algorithm}:${name}:${text}`);

async function transferred(server: Target, key?: TsigKey): Promise<string[]> {
  const names: string[] = [];
  for await (const { owner } of transferZone(ZONE_NAME, server, { key })) names.push(nameToText(owner));
  return names;
}

/** Instead of a message: close the connection. */
const END = Buffer.alloc(0);
/** Changes the messages of a server in transit: receives each with its number, and returns the messages to forward. */
type Meddler = (message: Buffer, number: number, query: Buffer) => readonly Buffer[];

/** Starts a proxy between the guard and a server. */
async function meddling(server: Target, meddle: Meddler): Promise<Target> {
  const open = new Set<Socket>();
  const front = createServer((socket) => {
    const onward = connect(server.port, server.host);
    for (const side of [socket, onward]) open.add(side.on('error', () => {}));
    let asked: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      asked = Buffer.concat([asked, chunk]);
      onward.write(chunk);
    });
    let pending = Buffer.alloc(0);
    let number = 0;
    onward.on('data', (chunk: Buffer) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0);
        for (const message of meddle(Buffer.from(pending.subarray(2, end)), number++, asked.subarray(2))) {
          if (message === END) return void socket.end();
          const length = Buffer.alloc(2);
          length.writeUInt16BE(message.length);
          socket.write(Buffer.concat([length, message]));
        }
        pending = pending.subarray(end);
      }
    });
    onward.on('close', () => socket.end());
  }).listen(0, LOOPBACK);
  await once(front, 'listening');
  atEnd(
    () => front.close(),
    () => open.forEach((socket) => void socket.destroy()),
  );
  return { host: LOOPBACK, port: (front.address() as AddressInfo).port }; // it listens on TCP
}

/** Returns the offset of the TSIG record, which is the last one; its name and algorithm are fixed. */
const tsigStart = (message: Buffer): number =>
  message.lastIndexOf(Buffer.from('\x08transfer\x03key\0\x00\xfa', 'latin1'));
const isSigned = (message: Buffer): boolean => tsigStart(message) > 0;
function unsigned(message: Buffer): Buffer {
  if (!isSigned(message)) return message;
  const bare = Buffer.from(message.subarray(0, tsigStart(message)));
  bare.writeUInt16BE(message.readUInt16BE(10) - 1, 10);
  return bare;
}
/** Returns the message with only `left` bytes of the signature. */
function cutShort(message: Buffer, left: number): Buffer {
  if (!isSigned(message)) return message;
  const data = tsigStart(message) + 14 + 10;
  const mac = macAt(message);
  const cut = message.readUInt16BE(mac - 2) - left;
  const shorter = Buffer.concat([message.subarray(0, mac + left), message.subarray(mac + left + cut)]);
  shorter.writeUInt16BE(left, mac - 2);
  shorter.writeUInt16BE(message.readUInt16BE(data - 2) - cut, data - 2);
  return shorter;
}
const flipped = (message: Buffer, at: number): Buffer => {
  message[at] = (message[at] ?? 0) ^ 1;
  return message;
};

/** Returns the offset of the signature in a message signed with SHA-256. */
const macAt = (message: Buffer): number => tsigStart(message) + 14 + 10 + 13 + 10;

/**
 * Signs only every `nth` message, as RFC 8945, 5.3.1, allows. NSD and Knot sign each message, so this simulates
 * servers that do not.
 */
function signingEvery(nth: number, { secret: text }: ServerKey): Meddler {
  let prior: Buffer = Buffer.alloc(0);
  let since: Buffer[] = [];
  let isFirst = true;
  return (message, number, asked) => {
    if (number === 0) [prior, since, isFirst] = [asked.subarray(macAt(asked), macAt(asked) + 32), [], true];
    const bare = unsigned(message);
    since.push(bare);
    // The last message, which is shorter than the others, is always signed.
    if (number % nth !== 0 && message.length > 12_000) return [bare];
    const start = tsigStart(message);
    const timers = message.subarray(start + 14 + 10 + 13, start + 14 + 10 + 13 + 8);
    const mac = createHmac('sha256', Buffer.from(text, 'base64'))
      .update(Uint8Array.of(0, prior.length))
      .update(prior);
    for (const one of since) mac.update(one);
    if (isFirst) {
      // Name, class and TTL; algorithm; timers; error and other data.
      mac.update(message.subarray(start, start + 14)).update(Uint8Array.of(0, 255, 0, 0, 0, 0));
      mac.update(Buffer.from('\x0bhmac-sha256\0', 'latin1')).update(timers).update(Buffer.alloc(4));
    } else mac.update(timers);
    prior = mac.digest();
    [since, isFirst] = [[], false];
    prior.copy(message, macAt(message));
    return [message];
  };
}

describe('a transfer with a TSIG key', () => {
  it('from Knot, which signs each message, is complete with the right key, fails with others, and seeds no NSEC3 hashes', async (ctx) => {
    if (noKnot) return ctx.skip(noKnot);
    const key = serverKey('hmac-sha512');
    const knot = await startSigningKnot(ZONE_NAME, ZONE_TEXT, key);
    atEnd(() => knot.stop());
    const source = { name: ZONE_NAME, transferFrom: knot, key: keyOf(key) };
    const detector = new AttackDetector({ high: 1, low: 2 }, { profile: { maxNames: 10_000 } }, Date.now());
    const seeded: string[] = [];
    const onName = (owner: Uint8Array) => void seeded.push(nameToText(owner));
    const seeding = seedZones([source], { detector, log: QUIET, onName });
    atEnd(() => seeding.stop());
    seeding.start();
    await seeding.tried;
    expect(seeding.missing()).toEqual([]);
    // All owners in the file, and the empty non-terminal between two of them; NSEC3 hashes have 32 characters.
    const names = new Set(seeded);
    expect([...names].filter((name) => /^[0-9a-v]{32}\./.test(name))).toEqual([]);
    expect(names.size).toBe(200 + 13);
    expect(detector.profile.size).toBe(names.size);
    const { hashHigh, hashLow } = questionOf(`h199.${ZONE_NAME}`, 1, detector.key);
    expect(detector.profile.find(hashHigh, hashLow)).toBeGreaterThanOrEqual(0);
    await expect(transferred(knot)).rejects.toThrow('NOTAUTH');
    await expect(transferred(knot, keyOf({ ...key, secret: secret() }))).rejects.toThrow('BADSIG');
    await expect(transferred(knot, keyOf({ ...key, name: 'other.key' }))).rejects.toThrow('BADKEY');
    await expect(transferred(knot, keyOf({ ...key, algorithm: 'hmac-sha256' }))).rejects.toThrow('BADKEY');
  });

  it('from NSD is complete with all or only some messages signed, and any changed message is detected', async (ctx) => {
    if (noNsd) return ctx.skip(noNsd);
    const key = serverKey('hmac-sha256');
    const hosts = Array.from({ length: 20_000 }, (_, i) => `big${i} A 192.0.2.1`).join('\n');
    const nsd = await startNsd(ZONE_NAME, `${ZONE_TEXT}\n${hosts}\n`, { key });
    atEnd(() => nsd.stop());
    const good = keyOf(key);
    const whole = await transferred(nsd, good);
    expect(whole.length).toBeGreaterThan(20_000);
    await expect(transferred(nsd)).rejects.toThrow('the server answered REFUSED');
    await expect(transferred(nsd, keyOf({ ...key, secret: secret() }))).rejects.toThrow(/BADSIG|not signed/);
    let count = 0;
    const sparsely = await meddling(nsd, (...message) => {
      count = message[1] + 1;
      return sparse(...message);
    });
    const sparse = signingEvery(3, key);
    expect((await transferred(sparsely, good)).length).toBe(whole.length);
    expect(count).toBeGreaterThan(8);
    const last = count - 1;
    const always: readonly (readonly [Meddler, RegExp])[] = [
      [(message) => [unsigned(message)], /is not signed/],
      [(message) => [cutShort(message, 16)], /is truncated/],
      [(message) => [cutShort(message, 0)], /is truncated/],
      [(message, n) => [n === 0 ? flipped(message, 60) : message], /is invalid/],
      [(message, n) => (n === last ? [unsigned(message), END] : [message]), /ended before/],
      [(message, n) => [n > 0 ? unsigned(message) : message, ...(n === last ? [END] : [])], /ended before/],
    ];
    for (const [meddle, wanted] of always)
      await expect(transferred(await meddling(nsd, meddle), good)).rejects.toThrow(wanted);
    // The fifth message has no signature of its own.
    const inBetween: readonly Meddler[] = [
      (message) => [flipped(Buffer.from(message), message.length - 1)],
      () => [],
      (message) => [message, message],
    ];
    for (const meddle of inBetween) {
      const every = signingEvery(3, key);
      const meddled: Meddler = (message, n, query) =>
        every(message, n, query).flatMap((one) => (n === 4 ? meddle(one, n, query) : [one]));
      await expect(transferred(await meddling(nsd, meddled), good)).rejects.toThrow(/is invalid/);
    }
  });

  it('adds no name to the profile that no valid signature covers', async (ctx) => {
    if (noNsd) return ctx.skip(noNsd);
    const key = serverKey('hmac-sha256');
    const nsd = await startNsd(ZONE_NAME, ZONE_TEXT, { key });
    atEnd(() => nsd.stop());
    const forged = await meddling(nsd, (message) => [flipped(message, message.indexOf('h199') + 1)]);
    const detector = new AttackDetector({ high: 1, low: 2 }, { profile: { maxNames: 10_000 } }, Date.now());
    const seed = new ZoneSeed({ zone: ZONE_NAME }, { detector });
    const read = async () => {
      for await (const { owner, type } of transferZone(ZONE_NAME, forged, { key: keyOf(key) }))
        seed.add(owner, type);
    };
    await expect(read()).rejects.toThrow('is invalid');
    expect(detector.profile.size).toBe(0);
  });
});
