import { AttackDetector } from '../../src/dns/detector/index.ts';
import {
  nameToWire,
  QueryType,
  Question,
  queryPacket,
  questionOf,
  readQuery,
  typeBit,
} from '../../src/dns/protocol/index.ts';

const KEY = { high: 0x9e3779b1, low: 0x7f4a7c15 };
const NAMES = 1_000_000;
const QUERIES = 4_000_000;
const PACKETS = 200_000;
/** Fewer malformed packets, because some are large. */
const MALFORMED_PACKETS = 10_000;
const MALFORMED_QUERIES = 1_000_000;

export interface VerdictFigures {
  /** Nanoseconds from the bytes of a packet to the verdict. */
  readonly knownNs: number;
  readonly unknownNs: number;
  /** Nanoseconds for packets that are not queries, by fault. */
  readonly malformedNs: Readonly<Record<string, number>>;
  readonly bytesPerName: number;
}

/** Measures parsing and deciding a query at `very_high` with a million known names. */
export function benchVerdict(): VerdictFigures {
  const nowMs = Date.now();
  const detector = new AttackDetector(KEY, { profile: { maxNames: NAMES } }, nowMs);
  const zone = detector.zones.add('example.test');
  if (zone !== undefined) detector.noteSeeded(zone);
  detector.setRule(
    {
      id: 'bench',
      scope: 'global',
      name: 'global',
      mode: 'enabled',
      profile_sensitivity: 'very_high',
      rate_sensitivity: 'medium',
      burst_sensitivity: 'medium',
      created_on: '2026-11-20T10:00:00.000000+00:00',
      modified_on: '2026-11-20T10:00:00.000000+00:00',
    },
    nowMs,
  );
  for (let n = 0; n < NAMES; n++) {
    const question = questionOf(`h${n}.example.test`, QueryType.A, KEY);
    detector.profile.seed(question, typeBit(QueryType.A));
  }
  const packet = (name: string, cut = 0) => {
    const bytes = queryPacket(nameToWire(name), QueryType.A);
    return bytes.subarray(0, bytes.length - cut);
  };
  const numbers = Array.from({ length: PACKETS }, (_, n) => n);
  const known = numbers.map((n) => packet(`h${(n * 7919) % NAMES}.example.test`));
  const unknown = numbers.map((n) => packet(`x${(n * 7919).toString(36)}q.example.test`));
  const run = (packets: readonly Uint8Array[], queries = QUERIES) =>
    nanosOfEach(packets, queries, (question, i) => detector.decide(question, nowMs + i / 100));
  run(known);
  return {
    knownNs: run(known),
    unknownNs: run(unknown),
    malformedNs: Object.fromEntries(
      Object.entries(malformed).map(([fault, make]) => [
        fault,
        run(
          numbers.slice(0, MALFORMED_PACKETS).map((n) => make(packet(`h${n}.example.test`))),
          MALFORMED_QUERIES,
        ),
      ]),
    ),
    bytesPerName: detector.profile.bytes / detector.profile.size,
  };
}

const HEADER_BYTES = 12;
const OVERSIZE_BYTES = 8192;
const POINTER = 0xc0;

/** Returns the packet with one byte changed. */
const withByte = (packet: Uint8Array, at: number, byte: number): Uint8Array => {
  packet[at] = byte;
  return packet;
};

/** Returns a header with one question whose name has these bytes. */
const withName = (packet: Uint8Array, ...name: readonly number[]): Uint8Array =>
  Uint8Array.of(...packet.subarray(0, HEADER_BYTES), ...name, 0, 0, 1, 0, 1);

/** Malformed packets: each function creates one from a valid query. */
const malformed: Readonly<Record<string, (packet: Uint8Array) => Uint8Array>> = {
  'cut in the header': (packet) => packet.subarray(0, HEADER_BYTES - 1),
  'cut in the name': (packet) => packet.subarray(0, HEADER_BYTES + 6),
  'cut in type and class': (packet) => packet.subarray(0, packet.length - 3),
  'pointer to itself': (packet) => withName(packet, POINTER, HEADER_BYTES),
  'pointers in a circle': (packet) =>
    withName(packet, 1, 0x61, POINTER, HEADER_BYTES + 4, 1, 0x62, POINTER, HEADER_BYTES),
  'labels without end': (packet) => withName(packet, ...new Array<number>(300).fill(1)),
  'reserved label': (packet) => withByte(packet, HEADER_BYTES, 0x80),
  'no question': (packet) => withByte(packet, 5, 0),
  '255 questions': (packet) => withByte(packet, 5, 255),
  oversize: (packet) => {
    const large = new Uint8Array(OVERSIZE_BYTES);
    large.set(packet);
    return large;
  },
  'response bit': (packet) => withByte(packet, 2, 0x80),
  'other opcode': (packet) => withByte(packet, 2, 0x28),
};

function nanosOfEach(
  packets: readonly Uint8Array[],
  queries: number,
  decide: (question: Question, i: number) => void,
): number {
  const question = new Question();
  const started = process.hrtime.bigint();
  for (let i = 0; i < queries; i++) {
    const packet = packets[i % packets.length] ?? new Uint8Array();
    if (readQuery(packet, KEY, question) === 0) decide(question, i);
  }
  return Number(process.hrtime.bigint() - started) / queries;
}
