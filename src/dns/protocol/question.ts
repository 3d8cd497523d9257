/**
 * Parser for the question of a DNS message, in one bounded pass without allocation. For a malformed packet, it
 * returns a result code instead of throwing, so that a malformed packet costs no more than a valid one.
 */
import { Edns, isCookieQuery, questionsEnd, readEdns } from './edns.ts';
import { finalizeHash, type HashKey, lowerCase, mixHigh, mixLow } from './nameHash.ts';
import { QueryType } from './queryTypes.ts';
import { HEADER_BYTES, readUint16 } from './wire.ts';

/** Maximum length of a name in wire form, including length octets and root (RFC 1035, 2.3.4). */
const MAX_NAME_BYTES = 255;
/** Maximum number of labels: a name of 255 octets has at most 127 labels, of one character each. */
const MAX_LABELS = 127;
const MAX_LABEL_BYTES = 63;
const TYPE_AND_CLASS_BYTES = 4;
/** Maximum size of a query. Legitimate queries are far smaller, even with a name of 255 octets and EDNS options. */
export const MAX_QUERY_BYTES = 4096;

/**
 * Results of parsing a query. All except `ok` are faults. UDP packets with the faults `tooShort`, `response` and
 * `portZero` are dropped. Other faults are answered with FORMERR, unless another answer is noted below.
 */
export const ReadResult = {
  ok: 0,
  /** The packet is shorter than a DNS header, so that no answer can be built. */
  tooShort: 1,
  /** The packet is a response, not a query. An answer to it could cause a loop. */
  response: 2,
  /** The packet is larger than {@link MAX_QUERY_BYTES}. */
  tooLong: 3,
  /** The packet does not contain exactly one question (RFC 9619), and is not a DNS cookie alone. */
  questionCount: 4,
  /** The name exceeds the packet or 255 octets, or contains a compression pointer or a reserved label type. */
  badName: 5,
  /** The packet ends within the type or class. */
  cutShort: 6,
  /** The opcode is not QUERY. The answer is NOTIMP. */
  opcode: 7,
  /** The source port is 0, so that no answer can be sent (RFC 768). The receiver checks this, not the parser. */
  portZero: 8,
  /** The query requests a zone transfer (AXFR, IXFR). The answer is REFUSED unless the client may transfer zones. */
  transfer: 9,
  /** The OPT record or one of its options is malformed, or there are several OPT records. The question is valid. */
  badOpt: 10,
  /** The query consists of a DNS cookie, without a question (RFC 7873, 5.4). It is forwarded if it gets a token. */
  cookie: 11,
} as const;
export type ReadResult = (typeof ReadResult)[keyof typeof ReadResult];

/** Names of the parse results, indexed by result. */
export const readResultNames = Object.keys(ReadResult) as ReadonlyArray<keyof typeof ReadResult>;

/** A parsed question. If an object is reused for another packet, its fields are overwritten. */
export class Question {
  id = 0;
  type = 0;
  class = 0;
  /** Offset of the first byte after the question section in the packet. */
  end = 0;
  /** Number of labels in the name, without the root. */
  labels = 0;
  /** Properties of the OPT record of a query, as bits of `Edns`. Only `readQuery` sets them, also for most faults. */
  edns = 0;
  /**
   * The query has a response code, or records other than one valid OPT record. Servers reject such queries, and NSD
   * leaves some of them unanswered. Only `readQuery` sets it.
   */
  isUnusual = false;
  /** Hash of the whole name: two unsigned 32-bit words, `hashHigh` and `hashLow`, which are never both zero. */
  hashHigh = 0;
  hashLow = 0;
  /** Hashes of the suffixes of the name, as two 32-bit halves. Entry i belongs to the last i + 1 labels. */
  readonly suffixHigh = new Int32Array(MAX_LABELS);
  readonly suffixLow = new Int32Array(MAX_LABELS);
  /** Offset in the packet of each label's length octet. The first entry belongs to the leftmost label. */
  readonly offsets = new Uint16Array(MAX_LABELS);
}

/** Parses a query packet: its question, hashed with `key`, and its OPT record. Stores both in `question`. */
export function readQuery(packet: Uint8Array, key: HashKey, question: Question): ReadResult {
  question.edns = 0;
  const fault = readHeader(packet, packet.length);
  if (fault !== ReadResult.ok && fault !== ReadResult.opcode) return fault;
  const result = fault === ReadResult.ok ? readQuestionSection(packet, key, question) : fault;
  const recordsAt = result === ReadResult.ok ? question.end : questionsEnd(packet);
  if (recordsAt !== 0) question.edns = readEdns(packet, recordsAt);
  question.isUnusual = isUnusual(packet, question.edns);
  if (result === ReadResult.questionCount && isCookieQuery(packet, question.edns)) {
    clearQuestion(question, readUint16(packet, 0));
    return ReadResult.cookie;
  }
  if (result !== ReadResult.ok) return result;
  if ((question.edns & Edns.malformed) !== 0) return ReadResult.badOpt;
  return isTransfer(question.type) ? ReadResult.transfer : result;
}

/** Returns the value of {@link Question.isUnusual}. `edns`: result of {@link readEdns}. */
function isUnusual(packet: Uint8Array, edns: number): boolean {
  const records = readUint16(packet, 6) + readUint16(packet, 8) + readUint16(packet, 10);
  const isCoded = ((packet[3] ?? 0) & 0x0f) !== 0;
  return isCoded || (edns & Edns.malformed) !== 0 || records > ((edns & Edns.opt) === 0 ? 0 : 1);
}

/** Sets the fields for a query without a question. No question has a hash of two zero words. */
function clearQuestion(question: Question, id: number): void {
  question.id = id;
  question.type = 0;
  question.class = 0;
  question.end = HEADER_BYTES;
  question.labels = 0;
  question.hashHigh = 0;
  question.hashLow = 0;
}

/** Returns true if a parsed query consists of a DNS cookie, without a question. */
export const isCookie = ({ hashHigh, hashLow }: Question): boolean => hashHigh === 0 && hashLow === 0;

/** Checks the header of a query of `length` bytes. `packet` may contain only the header of the query. */
export function readHeader(packet: Uint8Array, length: number): ReadResult {
  if (length < HEADER_BYTES) return ReadResult.tooShort;
  const flags = packet[2] as number; // inside the packet: length is at least HEADER_BYTES
  if ((flags & 0x80) !== 0) return ReadResult.response;
  if ((flags & 0x78) !== 0) return ReadResult.opcode;
  return length > MAX_QUERY_BYTES ? ReadResult.tooLong : ReadResult.ok;
}

/** Returns true if a query type requests a zone transfer: AXFR (RFC 5936) or IXFR (RFC 1995). */
export const isTransfer = (type: number): boolean => type === QueryType.AXFR || type === QueryType.IXFR;

/** Parses the question section of a query or an answer into `question`. The flags in the header are not checked. */
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

/** Stores each label's offset in `question`. Returns the offset after the root label, or 0 if the name is malformed. */
function readLabels(packet: Uint8Array, question: Question): number {
  const { length } = packet;
  const { offsets } = question;
  let offset = HEADER_BYTES;
  let labels = 0;
  for (;;) {
    if (offset >= length) return 0;
    const size = packet[offset] as number; // offset is below length
    if (size === 0) break;
    // Compression pointers are rejected. In the first name of a message, a pointer could only refer to this name or
    // to the header.
    if (size > MAX_LABEL_BYTES) return 0;
    offsets[labels++] = offset;
    offset += size + 1;
    if (offset - HEADER_BYTES >= MAX_NAME_BYTES) return 0;
  }
  question.labels = labels;
  return offset + 1;
}

/** Hashes the labels of the name from right to left. Stores the hash of each suffix and of the whole name. */
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
  question.hashHigh = finalizeHash(high);
  // Two zero words mark an empty slot of the profile, so the hash must not be two zero words.
  question.hashLow = finalizeHash(low) || 1;
}

/** Returns the hash of the suffix that consists of the last `labels` labels of a name. `labels` is at least 1. */
export const suffixHash = (question: Question, labels: number): [high: number, low: number] => [
  question.suffixHigh[labels - 1] ?? 0,
  question.suffixLow[labels - 1] ?? 0,
];
