/**
 * Seeded fuzz test: with any bytes from clients, servers and dnsdist, the process keeps running and answers queries.
 */
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket as TcpSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HEADER_BYTES, QueryType, questionOf } from '../../src/dns/protocol/index.ts';
import { freePort } from '../support/freePort.ts';
import { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { atEnd } from './support/atEnd.ts';
import { bindBoth } from './support/bindBoth.ts';
import { query, RCODE, type Target, UdpClient } from './support/dnsClient.ts';
import { driveDnsdist } from './support/driveDnsdist.ts';
import { RULE, TestRules, ZONE_NAME } from './support/guardInFront.ts';
import { startProgram } from './support/program.ts';

const LOOPBACK = '127.0.0.1';
const SEED = 20_261_121;
/** Largest payload of UDP over IPv4. */
const MAX_PAYLOAD_BYTES = 65_507;

/** Returns random bytes of any length that UDP can carry, mostly short. */
function noise(random: Random): Buffer {
  const longest = random.chance(0.02) ? MAX_PAYLOAD_BYTES : random.chance(0.2) ? 600 : 40;
  return Buffer.from(Array.from({ length: random.below(longest + 1) }, () => random.below(256)));
}

/**
 * Returns the message with some bytes changed, removed or appended, so that parsers reach the fault late in the
 * message.
 */
function mutated(message: Buffer, random: Random): Buffer {
  const copy = Buffer.from(message);
  for (let change = random.below(4); change > 0; change--)
    copy[random.below(copy.length)] = random.chance(0.3) ? 0xc0 + random.below(64) : random.below(256);
  if (random.chance(0.2)) return copy.subarray(0, random.below(copy.length + 1));
  return random.chance(0.2) ? Buffer.concat([copy, noise(random)]) : copy;
}

const anyQuery = (random: Random): Buffer =>
  random.chance(0.3)
    ? noise(random)
    : mutated(query(`h${random.below(1000)}.${ZONE_NAME}`, random.below(300), random.below(0x10000)), random);

/**
 * Returns an answer to the query with up to two records; their names may be compression pointers, also circular ones.
 */
function anyAnswer(asked: Buffer, random: Random): Buffer {
  if (asked.length < HEADER_BYTES || random.chance(0.1)) return noise(random);
  const head = Buffer.from(asked);
  head[2] = 0x80;
  head[3] = random.below(6);
  head.writeUInt16BE(random.below(2), 6);
  head.writeUInt16BE(random.below(2), 8);
  const name = random.chance(0.5) ? Buffer.from([0xc0, random.below(80)]) : noise(random).subarray(0, 300);
  const type = random.chance(0.7) ? QueryType.SOA : random.below(300);
  const record = Buffer.concat([
    name,
    Buffer.from([type >> 8, type & 0xff, 0, 1, 0, 0, 1, 44, 0, 4]),
    noise(random),
  ]);
  return mutated(Buffer.concat([head, record]).subarray(0, MAX_PAYLOAD_BYTES), random);
}

/** Answers TXT queries correctly and all others with random bytes or answers. */
function babble(server: Socket, random: Random): void {
  server.on('message', (asked, { port, address }) => {
    const isTrue = asked.length > 20 && asked.readUInt16BE(asked.length - 4) === QueryType.TXT;
    const answers = isTrue
      ? [Buffer.from(asked)]
      : Array.from({ length: 1 + random.below(3) }, () => anyAnswer(asked, random));
    if (isTrue && answers[0] !== undefined) answers[0][2] = 0x80;
    for (const answer of answers) server.send(answer, port, address);
  });
}

it('the program keeps running and answers, with any bytes from clients and servers over UDP and TCP', async () => {
  const random = new Random(SEED);
  const { udp, tcp, port } = await bindBoth();
  atEnd(
    () => udp.close(),
    () => tcp.close(),
  );
  tcp.on('connection', (socket: TcpSocket) => {
    socket.on('error', () => {});
    socket.on('data', (asked) =>
      socket.write(random.chance(0.5) ? noise(random) : anyAnswer(Buffer.from(asked), random)),
    );
  });
  babble(udp, random);
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const program = await startProgram(folder, { host: LOOPBACK, port });
  atEnd(() => program.stop());
  await program.api('POST', '', { ...ruleBody(), profile_sensitivity: 'very_high' });
  const client = await new UdpClient().open();
  // A separate socket, because answers to the random packets may have any id and arrive late.
  const asking = await new UdpClient().open();
  atEnd(
    () => client.close(),
    () => asking.close(),
  );
  const alive = async (id: number): Promise<void> => {
    const answer = await asking.ask(query(`alive.${ZONE_NAME}`, QueryType.TXT, id), program.dns, 250);
    expect(answer).toMatchObject({ id, rcode: RCODE.NOERROR });
  };
  const closed: Promise<void>[] = [];
  for (let i = 0; i < 6000; i++) {
    client.send(anyQuery(random), program.dns);
    if (i % 50 === 0) await alive(i);
    // Incomplete messages stay open until the timeout; the loop does not wait for them.
    if (i % 100 === 0) closed.push(overTcp(program.dns, random));
  }
  await Promise.all(closed);
  await alive(1);
  const metrics = await program.metrics();
  expect(metrics).toContain('floodgate_dns_packet_faults_total 0');
  const count = (result: string): number =>
    Number(new RegExp(`floodgate_dns_packets_total\\{result="${result}"\\} (\\d+)`).exec(metrics)?.[1]);
  // The run contained every kind of packet.
  for (const result of [
    'ok',
    'tooShort',
    'response',
    'tooLong',
    'questionCount',
    'badName',
    'cutShort',
    'opcode',
  ])
    expect([result, count(result) > 0]).toEqual([result, true]);
  expect(Number(/server_answers_total\{[^}]*result="mismatched"\} (\d+)/.exec(metrics)?.[1])).toBeGreaterThan(
    1000,
  );
});

/** Resolves when the socket is closed, by either side and for any reason. */
const closeOf = (socket: TcpSocket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('close', () => resolve());
  });

/** Sends random messages over one connection, and resolves when either side has closed it. */
async function overTcp({ host, port }: Target, random: Random): Promise<void> {
  const socket = connect(port, host);
  socket.on('error', () => {});
  await once(socket, 'connect');
  for (let i = random.below(4); i >= 0; i--) {
    const message = anyQuery(random).subarray(0, 0xffff);
    const length = random.chance(0.8) ? message.length : random.below(0x10000);
    socket.write(Buffer.concat([Buffer.from([length >> 8, length & 0xff]), message]));
  }
  const closed = closeOf(socket);
  random.pick([() => socket.resume().end(), () => socket.resetAndDestroy(), () => socket.destroy()])();
  await closed;
}

it('the dnsdist driver keeps running and learns names, with any bytes received as dnstap', async () => {
  const random = new Random(SEED);
  const folder = await mkdtemp(join(tmpdir(), 'floodgate-dns-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const dnstap = { host: LOOPBACK, port: await freePort() };
  const rules = new TestRules([{ ...RULE, profile_sensitivity: 'very_high' }]);
  const guard = await driveDnsdist({ rules, consoles: [], key: '', dnstap, folder });
  atEnd(() => guard.stop());
  for (let connection = 0; connection < 40; connection++) {
    const socket = connect(dnstap.port, dnstap.host);
    socket.on('error', () => {});
    await once(socket, 'connect');
    for (let i = 0; i < 100; i++) {
      const asked = query(`h${random.below(1000)}.${ZONE_NAME}`, random.below(300), random.below(0x10000));
      const message = random.chance(0.5) ? mutated(asked, random) : anyAnswer(asked, random);
      const frame = random.chance(0.2) ? noise(random) : frameOf(message, random);
      const bytes = random.chance(0.3) ? mutated(frame, random) : frame;
      const length = random.chance(0.98) ? bytes.length : random.below(2 ** 32);
      const header = Buffer.alloc(4);
      header.writeUInt32BE(length);
      socket.write(Buffer.concat([header, bytes]));
    }
    const closed = closeOf(socket);
    socket.resume().end();
    await closed;
  }
  const socket = connect(dnstap.port, dnstap.host);
  atEnd(() => socket.destroy());
  const answer = query(`learned.${ZONE_NAME}`);
  answer[2] = 0x80;
  for (const network of [1, 2]) socket.write(framed(tapped(6, answer, Buffer.from([192, 0, network, 1]))));
  const { hashHigh, hashLow } = questionOf(`learned.${ZONE_NAME}`, QueryType.A, guard.detector.key);
  await until('the name to be learned', () => guard.detector.profile.find(hashHigh, hashLow) >= 0);
  expect(guard.dataPlane.faults()).toBe(0);
});

function framed(bytes: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
}

function frameOf(message: Buffer, random: Random): Buffer {
  return tapped(5 + random.below(2), message, noise(random).subarray(0, random.chance(0.5) ? 4 : 16));
}

/** Encodes a frame of dnstap.proto with this type, address and message, over IPv4 and UDP. */
function tapped(type: number, message: Buffer, address: Buffer): Buffer {
  const field = (number: number, bytes: Buffer): Buffer =>
    Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
  const inside = Buffer.concat([
    Buffer.from([8, type, 24, 1]),
    field(4, address),
    field(type === 5 ? 10 : 14, message),
  ]);
  return field(14, inside);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>>= 7) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left & 0x7f) | 0x80);
  }
}

function ruleBody() {
  const { scope, name, mode, rate_sensitivity, burst_sensitivity } = RULE;
  return { scope, name, mode, rate_sensitivity, burst_sensitivity };
}
