/** Packets from clients and servers: parsed by the guard's parser, and answered by the built-in server. */
import { type DecodedPacket, decode, encode, type Packet } from 'dns-packet';
import { respond, ZoneData } from '../../src/dns/authority/index.ts';
import {
  AnswerKind,
  answerKind,
  expandName,
  HEADER_BYTES,
  nameToText,
  nameToWire,
  negativeZone,
  Question,
  questionOf,
  ReadResult,
  readAnswer,
  readQuery,
  readQuestionSection,
  readUint16,
} from '../../src/dns/protocol/index.ts';
import { must, type Target } from '../engine/target.ts';

const KEY = { high: 0x1234_5678, low: 0x9abc_def0 };
const ZONE = `@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 192.0.2.1
www A 192.0.2.2
*.wild TXT "${'x'.repeat(200)}" "${'y'.repeat(200)}"
alias CNAME www
sub NS ns.elsewhere.test.
`;
/** Maximum size of an answer over UDP with EDNS. */
const MAX_UDP_ANSWER_BYTES = 1232;
const NO_RESULTS: ReadonlySet<number> = new Set([ReadResult.portZero]);
const RESULTS = new Set(Object.values(ReadResult).filter((result) => !NO_RESULTS.has(result)));
const MAX_RCODE = 15;
const KINDS = new Set<number>(Object.values(AnswerKind));

export function open(): Target {
  const zones = [new ZoneData(ZONE, 'example.test')];
  return {
    seeds: seeds(),
    dictionary: [
      ...['\x07example\x04test\x00', '\x03www', '\x01*', '\xc0\x0c', '\x00\x06\x00\x01', '\x00\xfc\x00\x01'],
      ...['\x00\x00\x29\x04\xd0', '\x00\x01\x00\x00\x00\x00\x00\x00', '\x84\x00', '\x3f'],
    ],
    maxBytes: 4200,
    format: 'bytes',
    maxWork: 5_000_000,
    run(packet) {
      const question = new Question();
      const result = readQuery(packet, KEY, question);
      must(RESULTS.has(result), 'readQuery returns a result of the table', result);
      checkBounds(packet, result, question);
      checkQuestion(packet);
      checkAnswer(packet);
      for (const tcp of [false, true]) checkResponse(packet, respond(zones, packet, tcp), tcp);
    },
  };
}

/**
 * A packet in a larger buffer is parsed like one in its own buffer, because the bytes after it belong to another
 * client.
 */
function checkBounds(packet: Uint8Array, result: ReadResult, question: Question): void {
  const buffer = new Uint8Array(packet.length + 300).fill(0x61);
  buffer.set(packet);
  const again = new Question();
  must(
    readQuery(buffer.subarray(0, packet.length), KEY, again) === result,
    'bytes after the packet do not change the result',
  );
  if (result !== ReadResult.ok && result !== ReadResult.transfer) return;
  must(question.end <= packet.length, 'a question ends within the packet', question.end);
  must(
    sameHash(question, again) && question.type === again.type,
    'bytes after the packet do not change the question',
  );
}

/**
 * The parsed name equals the one that dns-packet reads, and has the same hash in any case and after conversion to
 * text and back.
 */
function checkQuestion(packet: Uint8Array): void {
  const question = new Question();
  if (readQuestionSection(packet, KEY, question) !== ReadResult.ok) return;
  const section = Buffer.from(packet.subarray(0, question.end));
  section.fill(0, 6, HEADER_BYTES);
  const [asked] = decode(section).questions ?? [];
  const name = expandName(packet, HEADER_BYTES);
  must(name !== undefined, 'a parsed name can be expanded');
  const text = nameToText(name);
  if (isPlain(name))
    must(asked?.name.toLowerCase() === text, 'the name equals the one that dns-packet reads', {
      text,
      asked: asked?.name,
    });
  must(sameHash(questionOf(text, question.type, KEY), question), 'a name has the hash of its text', text);
  must(Buffer.from(nameToWire(text)).equals(lowerCase(name)), 'a name converts to text and back', text);
}

const sameHash = (one: Question, other: Question): boolean =>
  one.hashHigh === other.hashHigh && one.hashLow === other.hashLow && one.labels === other.labels;

/** Labels of letters, digits and hyphens; dns-packet misreads dots and UTF-8 in others. */
const isPlain = (name: Uint8Array): boolean =>
  labelsOf(name).every((label) => /^[a-z0-9-]+$/i.test(label.toString('latin1')));

function labelsOf(name: Uint8Array): Buffer[] {
  const labels: Buffer[] = [];
  for (let at = 0; (name[at] ?? 0) !== 0; at += (name[at] ?? 0) + 1)
    labels.push(Buffer.from(name.subarray(at + 1, at + 1 + (name[at] ?? 0))));
  return labels;
}

const lowerCase = (name: Uint8Array): Buffer =>
  Buffer.concat([
    ...labelsOf(name).map((label) =>
      Buffer.from([label.length, ...label.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte))]),
    ),
    Buffer.of(0),
  ]);

/** Facts learned from an answer equal those that dns-packet reads, if it can parse the answer. */
function checkAnswer(packet: Uint8Array): void {
  const question = new Question();
  if (!readAnswer(packet, KEY, question)) return;
  const kind = answerKind(packet, question.end);
  must(kind <= MAX_RCODE || KINDS.has(kind), 'answerKind returns a known kind', kind);
  const zone = negativeZone(packet, question.end);
  if (zone !== undefined)
    must(zone.length <= 255 && zone.at(-1) === 0, 'a zone is a complete name', [...zone]);
  const decoded = tryDecode(packet);
  const [first] = decoded?.authorities ?? [];
  if (decoded === undefined || (decoded.questions ?? []).length !== 1) return;
  if ((decoded.answers ?? []).length > 0 || first?.type !== 'SOA') {
    must(zone === undefined, 'only a negative answer with an SOA record has a zone');
    return;
  }
  // dns-packet also follows pointers into the header and long chains of pointers; the guard reads only the form that
  // servers send.
  const isUsual = readUint16(packet, question.end) === 0xc000 + HEADER_BYTES;
  must(zone !== undefined || !isUsual, 'a negative answer has the zone of its SOA record', first.name);
  if (zone !== undefined && isPlain(zone))
    must(nameToText(zone) === first.name.toLowerCase(), 'the zone equals the one that dns-packet reads', {
      zone: nameToText(zone),
      owner: first.name,
    });
}

function tryDecode(packet: Uint8Array): DecodedPacket | undefined {
  try {
    return decode(Buffer.from(packet));
  } catch {
    return undefined;
  }
}

function checkResponse(query: Uint8Array, answer: Uint8Array | undefined, tcp: boolean): void {
  if (answer === undefined) {
    must(
      query.length < HEADER_BYTES || ((query[2] ?? 0) & 0x80) !== 0,
      'only a packet that is not a query has no answer',
    );
    return;
  }
  must(readUint16(answer, 0) === readUint16(query, 0), 'an answer has the id of its query');
  must(((answer[2] ?? 0) & 0x80) !== 0, 'an answer has the QR bit');
  must(
    tcp || answer.length <= MAX_UDP_ANSWER_BYTES,
    'an answer over UDP is at most 1,232 bytes long',
    answer.length,
  );
  const decoded = tryDecode(answer);
  must(decoded !== undefined, 'an answer can be parsed', Buffer.from(answer).toString('hex'));
}

function seeds(): Buffer[] {
  const query = (name: string, type: string, more: Partial<Packet> = {}): Buffer =>
    encode({ type: 'query', id: 1, questions: [{ name, type: type as 'A' }], ...more });
  const soa = {
    type: 'SOA' as const,
    name: 'example.test',
    ttl: 60,
    data: {
      mname: 'ns.example.test',
      rname: 'hostmaster.example.test',
      serial: 1,
      refresh: 1,
      retry: 1,
      expire: 1,
      minimum: 60,
    },
  };
  const opt = {
    type: 'OPT' as const,
    name: '.' as const,
    udpPayloadSize: 1232,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: true,
    options: [],
  };
  const nsec = {
    type: 'NSEC' as const,
    name: 'x.example.test',
    ttl: 60,
    data: { nextDomain: 'y.example.test', rrtypes: ['RRSIG', 'NSEC'] as const },
  };
  const response = { type: 'response' as const };
  return [
    query('www.example.test', 'A'),
    query('a.wild.example.test', 'TXT', { additionals: [opt] }),
    query('sub.example.test', 'DS'),
    query('example.test', 'AXFR'),
    query('.', 'NS'),
    query('x.example.test', 'A', { ...response, flags: 3, authorities: [soa] }),
    query('x.example.test', 'A', {
      ...response,
      authorities: [soa, { ...nsec, data: { ...nsec.data, rrtypes: ['RRSIG', 'NSEC'] } }],
    }),
    query('www.example.test', 'A', {
      ...response,
      answers: [{ type: 'A', name: 'www.example.test', ttl: 60, data: '192.0.2.2' }],
    }),
    query('sub.example.test', 'A', {
      ...response,
      authorities: [{ type: 'NS', name: 'sub.example.test', ttl: 60, data: 'ns.elsewhere.test' }],
    }),
  ];
}
