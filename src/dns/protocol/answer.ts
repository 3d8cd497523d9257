/** What the guard reads of an answer: its question, what it says of the name, and which zone a negative answer comes from. */

import type { HashKey } from './nameHash.ts';
import { QueryType } from './queryTypes.ts';
import {
  HEADER_BYTES,
  isTransfer,
  type Question,
  ReadResult,
  readQuestionSection,
  readUint16,
} from './question.ts';

const POINTER = 0xc0;
/** More jumps than this are a loop. */
const MAX_POINTERS = 16;
const MAX_NAME_BYTES = 255;

/** The rcode in the header; extended codes in an OPT record are not looked at. */
export const rcodeOf = (packet: Uint8Array): number => (packet[3] ?? 0) & 0x0f;

export const isResponse = (packet: Uint8Array): boolean => ((packet[2] ?? 0) & 0x80) !== 0;

/**
 * What an answer says of the name that was asked for. Below 16 it is the rcode of a message that says no more than that;
 * the others are NOERROR too, without a record that answers.
 */
export const AnswerKind = {
  /** Records, or a referral to the servers of another zone. */
  records: 0,
  nxdomain: 3,
  /** The name exists, for all that a zone says that answers NXDOMAIN where one does not. */
  noData: 16,
  /** NODATA whose NSEC record says that the name has no type at all: it does not exist (RFC 9824). */
  denial: 17,
  /** Cut short before the first record, as servers do that limit rates: it says nothing. */
  truncated: 18,
} as const;

/** Records of the authority section that are looked at: SOA, NSEC and their signatures come first. */
const MAX_AUTHORITIES = 8;
const RECORD_HEAD_BYTES = 10;
const TC = 0x02;

/** As {@link AnswerKind} has it; `questionEnd` is where the question section ends. */
export function answerKind(packet: Uint8Array, questionEnd: number): number {
  const rcode = rcodeOf(packet);
  if (rcode !== 0 || readUint16(packet, 6) !== 0) return rcode;
  if (((packet[2] ?? 0) & TC) !== 0) return AnswerKind.truncated;
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

/** Whether the type bitmap of an NSEC record has no type but those of denial: RRSIG, NSEC and NXNAME. */
function hasNoTypes(packet: Uint8Array, start: number, end: number): boolean {
  const bitmap = skipName(packet, start);
  if (bitmap === 0 || end > packet.length || packet[bitmap] !== 0) return false;
  const bytes = packet[bitmap + 1] ?? 0;
  if (bytes === 0 || bitmap + 2 + bytes !== end) return false;
  for (let byte = 0; byte < bytes; byte++) {
    // RRSIG and NSEC are types 46 and 47, NXNAME is 128.
    const denying = byte === 5 ? 0x03 : byte === 16 ? 0x80 : 0;
    if (((packet[bitmap + 2 + byte] ?? 0) & ~denying) !== 0) return false;
  }
  return true;
}

/**
 * Reads the question that an answer answers, from its first bytes. False where there is nothing to learn: it is no answer, or
 * its question cannot be read, or it answers a transfer, which says nothing of what clients ask for.
 */
export const readAnswer = (packet: Uint8Array, key: HashKey, question: Question): boolean =>
  isResponse(packet) &&
  readQuestionSection(packet, key, question) === ReadResult.ok &&
  !isTransfer(question.type);

/**
 * The zone that a negative answer names: the owner of the SOA record that opens its authority section, in wire form.
 * Undefined where the answer has answers, or opens its authority section with something else, or cannot be read.
 */
export function negativeZone(packet: Uint8Array, questionEnd: number): Uint8Array | undefined {
  const answers = readUint16(packet, 6);
  const authorities = readUint16(packet, 8);
  if (answers !== 0 || authorities === 0) return undefined;
  const end = skipName(packet, questionEnd);
  if (end === 0 || readUint16(packet, end) !== QueryType.SOA) return undefined;
  return expandName(packet, questionEnd);
}

/** The offset behind a name that may end in a pointer; 0 when it runs past the packet. */
export function skipName(packet: Uint8Array, start: number): number {
  for (let at = start; at < packet.length; ) {
    const size = packet[at] ?? 0;
    if (size === 0) return at + 1;
    if (size >= POINTER) return at + 2;
    at += size + 1;
  }
  return 0;
}

/** A name without pointers. Undefined when it runs in circles, past the packet or beyond 255 octets. */
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
