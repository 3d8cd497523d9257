/**
 * Through the guard, queries of random shapes receive the server's own answers, or those that docs/reference/dns-answers.md
 * specifies.
 */
import { describe, expect, it } from 'vitest';
import { HEADER_BYTES, QueryType } from '../../src/dns/protocol/index.ts';
import { Random } from '../support/random.ts';
import { sizeInSearch } from '../support/search.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { openTcpClient, openUdpClient, startGuarded } from './support/clients.ts';
import { query, RCODE, type Target, type UdpClient } from './support/dnsClient.ts';
import { ownOpt } from './support/edns.ts';
import { ZONE_NAME, ZONE_TEXT } from './support/guardInFront.ts';
import { queryShape } from './support/queryShapes.ts';
import { noKnot, startSigningKnot } from './support/realKnot.ts';
import { noNsd, startNsd } from './support/realServer.ts';

const SEED = 20_261_125;
const SHAPES = sizeInSearch(4000, { ordinary: 1000 });
const SHAPES_OVER_TCP = sizeInSearch(1000, { ordinary: 200 });
const BATCH = 100;
const CONNECTIONS = 20;
/** A busy machine loses packets, so a query with different answers is sent again. */
const TRIES = 5;
/** NSD answers some malformed queries, or closes the connection instead, at random. */
const TRIES_OVER_TCP = 20;
/** Larger than the ids of a batch. */
const SENTINEL = 1000;
const MAX_QUERY_BYTES = 4096;
const KEY = { name: 'floodgate', algorithm: 'hmac-sha256', secret: 'c2l4dGVlbiBvY3RldHMgb2Yga2V5' };

const SERVERS = [
  { name: 'NSD', missing: noNsd, isBare: true, start: () => startNsd(ZONE_NAME, ZONE_TEXT) },
  {
    name: 'Knot DNS',
    missing: noKnot,
    isBare: false,
    start: () => startSigningKnot(ZONE_NAME, ZONE_TEXT, KEY),
  },
];

/**
 * Returns the guard's own answer according to docs/reference/dns-answers.md: `nothing`, or the bytes. Returns
 * undefined for a query that the server must answer.
 */
function ownAnswer(packet: Buffer, protocol: 'udp' | 'tcp'): Buffer | 'nothing' | undefined {
  if (packet.length < HEADER_BYTES || (packet.readUInt8(2) & 0x80) !== 0) return 'nothing';
  const opts = packet.length > MAX_QUERY_BYTES ? [] : optsOf(packet);
  const answer = (rcode: number, question: Buffer, info?: number): Buffer => {
    const [first] = opts;
    const header = headerOf(packet, rcode);
    header[5] = question.length > 0 ? 1 : 0;
    if (first === undefined || first.isCut || !first.isRootOwned) return Buffer.concat([header, question]);
    header[11] = 1;
    const [short, long] = [ownOpt(first.dnssecOk), ownOpt(first.dnssecOk, info)].map((record) =>
      Buffer.concat([header, question, record]),
    ) as [Buffer, Buffer];
    return protocol === 'tcp' || long.length <= packet.length ? long : short;
  };
  const none = Buffer.alloc(0);
  if ((packet.readUInt8(2) & 0x78) !== 0) return answer(RCODE.NOTIMP, none, 21);
  if (packet.length > MAX_QUERY_BYTES) return answer(RCODE.FORMERR, none);
  if (isCookieAlone(packet, opts)) return undefined;
  const end = questionEnd(packet);
  if (packet.readUInt16BE(4) !== 1 || end === undefined) return answer(RCODE.FORMERR, none);
  if (opts.length > 1 || opts.some(({ isValid }) => !isValid)) return answer(RCODE.FORMERR, none);
  const type = packet.readUInt16BE(end - 4);
  if (type !== QueryType.AXFR && type !== QueryType.IXFR) return undefined;
  return answer(RCODE.REFUSED, packet.subarray(HEADER_BYTES, end), 18);
}

interface Opt {
  readonly isCut: boolean;
  readonly isRootOwned: boolean;
  readonly isValid: boolean;
  readonly dnssecOk: boolean;
  readonly version: number;
  readonly cookies: readonly number[];
}

/** Returns the OPT records of the additional section, up to the first record that cannot be read. */
function optsOf(packet: Buffer): readonly Opt[] {
  const opts: Opt[] = [];
  let at: number | undefined = HEADER_BYTES;
  for (let left = packet.readUInt16BE(4); left > 0 && at !== undefined; left--) {
    const name = nameEnd(packet, at);
    at = name === undefined || name + 4 > packet.length ? undefined : name + 4;
  }
  const others = packet.readUInt16BE(6) + packet.readUInt16BE(8);
  for (let record = 0; record < others + packet.readUInt16BE(10) && at !== undefined; record++) {
    const name = nameEnd(packet, at);
    if (name === undefined || name + 2 > packet.length) break;
    const isCut = name + 10 > packet.length;
    const end: number = isCut ? packet.length + 1 : name + 10 + packet.readUInt16BE(name + 8);
    if (record >= others && packet.readUInt16BE(name) === 41)
      opts.push(optAt(packet, [at, name, end], isCut));
    at = end > packet.length ? undefined : end;
  }
  return opts;
}

function optAt(packet: Buffer, [at, name, end]: [number, number, number], isCut: boolean): Opt {
  const isRootOwned = name === at + 1;
  if (isCut) return { isCut, isRootOwned, isValid: false, dnssecOk: false, version: 0, cookies: [] };
  const version = packet.readUInt8(name + 5);
  const cookies: number[] = [];
  let option = name + 10;
  while (end <= packet.length && option + 4 <= end) {
    const size = packet.readUInt16BE(option + 2);
    if (packet.readUInt16BE(option) === 10) cookies.push(size);
    option += 4 + size;
  }
  const isValid = isRootOwned && end <= packet.length && (version !== 0 || option === end);
  return {
    isCut,
    isRootOwned,
    isValid,
    dnssecOk: (packet.readUInt8(name + 6) & 0x80) !== 0,
    version,
    cookies,
  };
}

/** Returns the offset after a name, which may be compressed. */
function nameEnd(packet: Buffer, start: number): number | undefined {
  for (let at = start; at < packet.length; at += packet.readUInt8(at) + 1) {
    if (packet[at] === 0) return at + 1;
    if (packet.readUInt8(at) >= 0xc0) return at + 2;
  }
  return undefined;
}

/** Returns true for an OPT record with exactly one valid cookie, and nothing else (RFC 7873, 5.4). */
function isCookieAlone(packet: Buffer, [first, ...more]: readonly Opt[]): boolean {
  if (first === undefined || more.length > 0 || !first.isValid || first.version !== 0) return false;
  const [cookie, ...others] = first.cookies;
  const isEmpty = packet.subarray(4, HEADER_BYTES).equals(Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]));
  const isWhole = packet.length === HEADER_BYTES + 11 + packet.readUInt16BE(HEADER_BYTES + 9);
  const isSized = cookie === 8 || (cookie !== undefined && cookie >= 16 && cookie <= 40);
  return isEmpty && isWhole && isSized && others.length === 0;
}

/** Returns the query's header as that of an answer without records: id, opcode and RD are kept. */
function headerOf(packet: Buffer, rcode: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  packet.copy(header, 0, 0, 2);
  header[2] = 0x80 | (packet.readUInt8(2) & 0x79);
  header[3] = rcode;
  return header;
}

/** Returns the offset after name, type and class; undefined if the name is malformed or longer than 255 octets. */
function questionEnd(packet: Buffer): number | undefined {
  let at = HEADER_BYTES;
  for (let size = packet[at]; size !== 0; size = packet[at]) {
    if (size === undefined || size > 63) return undefined;
    at += size + 1;
  }
  const end = at + 5;
  return at + 1 - HEADER_BYTES > 255 || end > packet.length ? undefined : end;
}

/** Sends all queries over UDP, and returns the answers by id when no more can arrive. */
async function answersOf(
  client: UdpClient,
  packets: readonly Buffer[],
  target: Target,
): Promise<ReadonlyMap<number, Buffer>> {
  client.answers.clear();
  for (const packet of packets) client.send(packet, target);
  // The server answers in order. The answer to the first of these proves that the guard has all answers, the answer
  // to the second that it sent them.
  for (const id of [SENTINEL, SENTINEL + 1])
    await client.ask(query(`h1.${ZONE_NAME}`, QueryType.A, id), target);
  return new Map([...client.answers].map(([id, { bytes }]) => [id, bytes]));
}

const hex = (bytes: Buffer | undefined): string | undefined => bytes?.toString('hex');

describe.each(SERVERS)('$name', ({ missing, isBare, start }) => {
  async function servers(): Promise<{ server: Target; guard: Target }> {
    const server = await start();
    atEnd(() => server.stop());
    const { target } = await startGuarded(undefined, { servers: [server] });
    return { server, guard: target };
  }

  it(`answers ${SHAPES} random query shapes over UDP identically with and without the guard`, async (ctx) => {
    if (missing) return ctx.skip(missing);
    const { server, guard } = await servers();
    const random = new Random(SEED);
    const [direct, guarding] = [await openUdpClient(), await openUdpClient()];
    let bare = 0;
    for (let from = 0; from < SHAPES; from += BATCH) {
      let waiting = Array.from({ length: BATCH }, (_, id) => queryShape(random, id));
      let differences: object[] = [];
      for (let attempt = 0; attempt < TRIES && waiting.length > 0; attempt++) {
        const asked = waiting;
        const expected = await answersOf(direct, asked, server);
        const seen = await answersOf(guarding, asked, guard);
        waiting = [];
        differences = [];
        for (const packet of asked) {
          const id = packet.readUInt16BE(0);
          const own = ownAnswer(packet, 'udp');
          const right = own === 'nothing' ? undefined : (own ?? expected.get(id));
          if (own === undefined && right?.readUInt16BE(4) === 0) bare++;
          if (hex(seen.get(id)) === hex(right)) continue;
          waiting.push(packet);
          differences.push({ query: hex(packet), right: hex(right), guard: hex(seen.get(id)) });
        }
      }
      expect(differences).toEqual([]);
    }
    // NSD sends errors without a question section.
    expect(bare > 0).toBe(isBare);
  });

  it(`answers ${SHAPES_OVER_TCP} random query shapes over TCP identically with and without the guard`, async (ctx) => {
    if (missing) return ctx.skip(missing);
    const { server, guard } = await servers();
    const random = new Random(SEED + 1);
    /** Returns the answer to the first message of a connection; undefined if only the second is answered, or none. */
    const answerOf = async (packet: Buffer, target: Target): Promise<string | undefined> => {
      const client = await openTcpClient(target);
      client.send(packet, query(`h1.${ZONE_NAME}`, QueryType.A, SENTINEL));
      await until(
        'the second query to be answered, or the connection to be closed',
        () => client.closed || client.answers.some(({ id }) => id === SENTINEL),
      );
      client.close();
      return hex(client.answers.find(({ id }) => id === 0)?.bytes);
    };
    const compare = async (packet: Buffer): Promise<void> => {
      const own = ownAnswer(packet, 'tcp');
      let [right, seen]: (string | undefined)[] = [];
      for (let attempt = 0; attempt < TRIES_OVER_TCP; attempt++) {
        right = own === 'nothing' ? undefined : (hex(own) ?? (await answerOf(packet, server)));
        seen = await answerOf(packet, guard);
        if (seen === right) return;
      }
      expect([hex(packet), seen]).toEqual([hex(packet), right]);
    };
    for (let from = 0; from < SHAPES_OVER_TCP; from += CONNECTIONS)
      await Promise.all(Array.from({ length: CONNECTIONS }, () => compare(queryShape(random, 0))));
  });
});
