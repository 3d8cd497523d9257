/**
 * The wire reader of a DNS question: what the guard must know of a query, read in one bounded pass without
 * allocating. It never throws; what cannot be read is a named fault, and a fault costs no more than a good packet.
 */
import { finish, type HashKey, lowerCase, mixHigh, mixLow } from './nameHash.ts';
import { QueryType } from './queryTypes.ts';

/** RFC 1035, 4.1.1. */
export const HEADER_BYTES = 12;
/** RFC 1035, 2.3.4: 255 octets with the length octets and the root. */
const MAX_NAME_BYTES = 255;
/** 255 octets hold at most 127 labels of one character. */
const MAX_LABELS = 127;
const MAX_LABEL_BYTES = 63;
const TYPE_AND_CLASS_BYTES = 4;
/** No honest query comes near it: 255 octets of name and a few EDNS options. Larger ones are refused unread. */
export const MAX_QUERY_BYTES = 4096;

/** What came of reading: `ok`, or why it is no query to decide about. Those up to `response` are dropped unanswered, the others get FORMERR or what stands beside them. */
export const ReadResult = {
  ok: 0,
  /** Shorter than a header: there is not even an id to answer under. */
  tooShort: 1,
  /** The response bit is set: answering answers makes loops. */
  response: 2,
  /** Larger than {@link MAX_QUERY_BYTES}: answered FORMERR, as are the next three. */
  tooLong: 3,
  /** Not exactly one question (RFC 9619). */
  questionCount: 4,
  /** The name runs past the packet, is longer than 255 octets, or holds a pointer or a reserved label type. */
  badName: 5,
  /** The packet ends inside type or class. */
  cutShort: 6,
  /** An opcode other than QUERY: answered NOTIMP. */
  opcode: 7,
  /** From source port 0, which wants no answer (RFC 768) and can be sent none. Told by whoever receives, not by the bytes. */
  portZero: 8,
  /** A question for a whole zone (AXFR, IXFR), read as `ok` is: answered REFUSED except where the client may transfer. */
  transfer: 9,
} as const;
export type ReadResult = (typeof ReadResult)[keyof typeof ReadResult];

/** The names of the results, in the order of their numbers: for counters and metrics. */
export const readResultNames = Object.keys(ReadResult) as ReadonlyArray<keyof typeof ReadResult>;

/** A question as read. One object is used again for every packet: its fields hold until the next read. */
export class Question {
  id = 0;
  type = 0;
  class = 0;
  /** Offset behind type and class: the end of the question section. */
  end = 0;
  /** Number of labels, the root not counted. */
  labels = 0;
  /** The hash of the whole name, both words unsigned and never both zero. */
  hashHigh = 0;
  hashLow = 0;
  /** The lanes of the hash after each label from the right: entry i is the suffix of i + 1 labels. */
  readonly suffixHigh = new Int32Array(MAX_LABELS);
  readonly suffixLow = new Int32Array(MAX_LABELS);
  /** Offsets of the labels' length octets, from the left. */
  readonly offsets = new Uint16Array(MAX_LABELS);
}

/** Reads the question of a query packet into `question`, hashed under `key`. */
export function readQuery(packet: Uint8Array, key: HashKey, question: Question): ReadResult {
  const fault = readHeader(packet, packet.length);
  if (fault !== ReadResult.ok) return fault;
  const result = readQuestionSection(packet, key, question);
  return result === ReadResult.ok && isTransfer(question.type) ? ReadResult.transfer : result;
}

/** What the header tells of a query packet of `length` bytes, of which no more than the header need be there. */
export function readHeader(packet: Uint8Array, length: number): ReadResult {
  if (length < HEADER_BYTES) return ReadResult.tooShort;
  const flags = packet[2] as number; // inside the packet: length is at least that of a header
  if ((flags & 0x80) !== 0) return ReadResult.response;
  if ((flags & 0x78) !== 0) return ReadResult.opcode;
  return length > MAX_QUERY_BYTES ? ReadResult.tooLong : ReadResult.ok;
}

/** Whether a type asks for a zone (AXFR, RFC 5936) or for what changed in it (IXFR, RFC 1995), whatever the class. */
export const isTransfer = (type: number): boolean => type === QueryType.AXFR || type === QueryType.IXFR;

/** Reads the question section of any message, query or answer; the caller has checked the header's flags. */
export function readQuestionSection(packet: Uint8Array, key: HashKey, question: Question): ReadResult {
  const { length } = packet;
  if (length < HEADER_BYTES) return ReadResult.tooShort;
  if (packet[4] !== 0 || packet[5] !== 1) return ReadResult.questionCount;
  const nameEnd = readLabels(packet, question);
  if (nameEnd === 0) return ReadResult.badName;
  if (nameEnd + TYPE_AND_CLASS_BYTES > length) return ReadResult.cutShort;
  question.id = readUint16(packet, 0);
  question.type = readUint16(packet, nameEnd);
  question.class = readUint16(packet, nameEnd + 2);
  question.end = nameEnd + TYPE_AND_CLASS_BYTES;
  hashLabels(packet, key, question);
  return ReadResult.ok;
}

/** Two bytes, most significant first. Past the end of the packet it reads zeros. */
export const readUint16 = (packet: Uint8Array, offset: number): number =>
  ((packet[offset] ?? 0) << 8) | (packet[offset + 1] ?? 0);

/** Notes where each label starts. Returns the offset behind the root label, 0 when the name cannot be read. */
function readLabels(packet: Uint8Array, question: Question): number {
  const { length } = packet;
  const { offsets } = question;
  let offset = HEADER_BYTES;
  let labels = 0;
  for (;;) {
    if (offset >= length) return 0;
    const size = packet[offset] as number; // offset is below length
    if (size === 0) break;
    // A pointer in the only question of a message can point at nothing but itself or the header.
    if (size > MAX_LABEL_BYTES) return 0;
    offsets[labels++] = offset;
    offset += size + 1;
    if (offset - HEADER_BYTES >= MAX_NAME_BYTES) return 0;
  }
  question.labels = labels;
  return offset + 1;
}

/** Hashes the labels from the rightmost to the leftmost, keeping the lanes of each suffix. */
function hashLabels(packet: Uint8Array, key: HashKey, question: Question): void {
  let high = key.high | 0;
  let low = key.low | 0;
  for (let label = question.labels - 1, suffix = 0; label >= 0; label--, suffix++) {
    const start = question.offsets[label] as number; // label is below question.labels
    const end = start + (packet[start] as number) + 1;
    high = mixHigh(high, end - start);
    low = mixLow(low, end - start);
    for (let i = start + 1; i < end; i++) {
      const byte = lowerCase(packet[i] as number);
      high = mixHigh(high, byte);
      low = mixLow(low, byte);
    }
    question.suffixHigh[suffix] = high;
    question.suffixLow[suffix] = low;
  }
  question.hashHigh = finish(high);
  // (0, 0) marks an empty slot of the profile.
  question.hashLow = finish(low) || 1;
}

/** The lanes of the suffix of so many labels, one at least. */
export const questionSuffix = (question: Question, labels: number): [high: number, low: number] => [
  question.suffixHigh[labels - 1] ?? 0,
  question.suffixLow[labels - 1] ?? 0,
];
