/** Reads DNS answers: their question, their kind, and the zone that a negative answer names. */

import { OPT_BYTES, OPT_TYPE } from './edns.ts';
import type { HashKey } from './nameHash.ts';
import { QueryType } from './queryTypes.ts';
import { isTransfer, type Question, ReadResult, readQuestionSection } from './question.ts';
import { HEADER_BYTES, RECORD_HEAD_BYTES, readUint16, skipName } from './wire.ts';

const POINTER = 0xc0;
/** Maximum number of compression pointers in one name. A name with more pointers is treated as a loop. */
const MAX_POINTERS = 16;
const MAX_NAME_BYTES = 255;

const Rcode = { FORMERR: 1, SERVFAIL: 2, NOTIMP: 4, REFUSED: 5, NOTAUTH: 9, BADVERS: 16 } as const;
const TSIG_TYPE = 250;

/** Returns the response code in the header of a message: the lower four bits of an extended response code. */
export const rcodeOf = (packet: Uint8Array): number => (packet[3] ?? 0) & 0x0f;

const RCODES: Readonly<Record<number, string>> = {
  0: 'NOERROR',
  1: 'FORMERR',
  2: 'SERVFAIL',
  3: 'NXDOMAIN',
  4: 'NOTIMP',
  5: 'REFUSED',
  9: 'NOTAUTH',
};

/** Returns the name of a response code, for example REFUSED, or RCODE10 if it is rare. */
export const rcodeName = (rcode: number): string => RCODES[rcode] ?? `RCODE${rcode}`;

export const isResponse = (packet: Uint8Array): boolean => ((packet[2] ?? 0) & 0x80) !== 0;

/** Kinds of answers. Values below 16 are response codes. The other values divide NOERROR without answer records. */
export const AnswerKind = {
  /** NOERROR with answer records, or a referral to the servers of another zone. */
  records: 0,
  nxdomain: 3,
  /** NODATA: the name exists, but has no record of the type. Some zones return NODATA for nonexistent names too. */
  noData: 16,
  /** NODATA with an NSEC record of no types other than RRSIG, NSEC, NXNAME: the name does not exist (RFC 9824). */
  denial: 17,
  /** TC=1 without records, as servers with rate limits send it. It does not show whether the name exists. */
  truncated: 18,
  /** The server does not support the EDNS version of the query (BADVERS) and did not look up the name. */
  badVersion: 19,
} as const;

/** Maximum number of authority records that are read. Servers send SOA, NSEC and their signatures first. */
const MAX_AUTHORITIES = 8;
const TC = 0x02;

/** Returns the {@link AnswerKind} of an answer. `questionEnd`: offset of the end of the question section. */
export function answerKind(packet: Uint8Array, questionEnd: number): number {
  const rcode = rcodeOf(packet);
  if (rcode !== 0 || readUint16(packet, 6) !== 0) return rcode;
  if (((packet[2] ?? 0) & TC) !== 0) return AnswerKind.truncated;
  if (extendedRcode(packet, questionEnd) === Rcode.BADVERS) return AnswerKind.badVersion;
  const authorities = Math.min(MAX_AUTHORITIES, readUint16(packet, 8));
  let at = questionEnd;
  let hasServers = false;
  let hasSoa = false;
  for (let record = 0; record < authorities; record++) {
    const head = skipName(packet, at);
    if (head === 0 || head + RECORD_HEAD_BYTES > packet.length) break;
    const type = readUint16(packet, head);
    const data = head + RECORD_HEAD_BYTES;
    at = data + readUint16(packet, data - 2);
    if (type === QueryType.NSEC && hasNoTypes(packet, data, at)) return AnswerKind.denial;
    hasServers ||= type === QueryType.NS;
    hasSoa ||= type === QueryType.SOA;
  }
  return hasServers && !hasSoa ? AnswerKind.records : AnswerKind.noData;
}

/**
 * Returns the extended response code of a message. Undefined if the message has records other than an OPT record at
 * offset `start` and then a TSIG record, or if one of them is longer than the message.
 */
function extendedRcode(packet: Uint8Array, start: number): number | undefined {
  if (readUint16(packet, 6) !== 0 || readUint16(packet, 8) !== 0) return undefined;
  let rcode = rcodeOf(packet);
  let others = readUint16(packet, 10);
  let at = start;
  if (others > 0 && packet[at] === 0 && readUint16(packet, at + 1) === OPT_TYPE) {
    rcode |= (packet[at + 5] ?? 0) << 4;
    at += OPT_BYTES + readUint16(packet, at + OPT_BYTES - 2);
    others--;
  }
  const head = others > 0 ? skipName(packet, at) : 0;
  if (head !== 0 && readUint16(packet, head) === TSIG_TYPE) {
    at = head + RECORD_HEAD_BYTES + readUint16(packet, head + RECORD_HEAD_BYTES - 2);
    others--;
  }
  return others === 0 && at <= packet.length ? rcode : undefined;
}

const BARE_ERRORS: ReadonlySet<number | undefined> = new Set(Object.values(Rcode));

/**
 * Returns true if a packet is an error answer without question and without records other than OPT and TSIG. NSD sends
 * them for unknown classes and for bad signatures (NOTAUTH). The caller must match it to a query by server, port and
 * transaction ID.
 */
export const isBareError = (packet: Uint8Array): boolean =>
  packet.length >= HEADER_BYTES &&
  isResponse(packet) &&
  readUint16(packet, 4) === 0 &&
  BARE_ERRORS.has(extendedRcode(packet, HEADER_BYTES));

/** Returns true if the data of an NSEC record lists only the types RRSIG, NSEC and NXNAME (RFC 9824). */
function hasNoTypes(packet: Uint8Array, start: number, end: number): boolean {
  const bitmap = skipName(packet, start);
  if (bitmap === 0 || end > packet.length || packet[bitmap] !== 0) return false;
  const bytes = packet[bitmap + 1] ?? 0;
  if (bytes === 0 || bitmap + 2 + bytes !== end) return false;
  for (let byte = 0; byte < bytes; byte++) {
    // RRSIG is type 46, NSEC is type 47, NXNAME is type 128.
    const denying = byte === 5 ? 0x03 : byte === 16 ? 0x80 : 0;
    if (((packet[bitmap + 2 + byte] ?? 0) & ~denying) !== 0) return false;
  }
  return true;
}

/**
 * Parses the question of a DNS answer into `question`. `packet` may contain only the first bytes of the answer.
 * Returns false if the packet is not an answer, is malformed, or answers a zone transfer, from which the guard does
 * not learn.
 */
export const readAnswer = (packet: Uint8Array, key: HashKey, question: Question): boolean =>
  isResponse(packet) &&
  readQuestionSection(packet, key, question) === ReadResult.ok &&
  !isTransfer(question.type);

/**
 * Returns the name of the zone of a negative answer, in wire form: the owner of the SOA record. Undefined if the
 * first authority record is not an SOA record, or the message has answer records or is malformed.
 */
export function negativeZone(packet: Uint8Array, questionEnd: number): Uint8Array | undefined {
  const answers = readUint16(packet, 6);
  const authorities = readUint16(packet, 8);
  if (answers !== 0 || authorities === 0) return undefined;
  const end = skipName(packet, questionEnd);
  if (end === 0 || readUint16(packet, end) !== QueryType.SOA) return undefined;
  return expandName(packet, questionEnd);
}

/**
 * Returns the name at offset `start` in wire form, with compression pointers resolved. Undefined if the pointers form
 * a loop, or the name exceeds the packet or 255 octets.
 */
export function expandName(packet: Uint8Array, start: number): Uint8Array | undefined {
  const name: number[] = [];
  let jumps = 0;
  for (let at = start; at < packet.length && name.length < MAX_NAME_BYTES; ) {
    const size = packet[at] ?? 0;
    if (size >= POINTER) {
      if (++jumps > MAX_POINTERS) return undefined;
      at = readUint16(packet, at) & 0x3fff;
      if (at < HEADER_BYTES) return undefined;
      continue;
    }
    if (size > 63 || at + size >= packet.length) return undefined;
    for (let i = 0; i <= size; i++) name.push(packet[at + i] ?? 0);
    if (size === 0) return Uint8Array.from(name);
    at += size + 1;
  }
  return undefined;
}
