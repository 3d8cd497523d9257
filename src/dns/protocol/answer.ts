/** What the guard reads of an answer: its question, the rcode, and which zone a negative answer comes from. */

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
 * Reads the question that an answer answers, from its first bytes. False where there is nothing to learn: it is no answer, or
 * its question cannot be read, or it answers a transfer, which says nothing of what clients ask for.
 */
export const readAnswer = (packet: Uint8Array, key: HashKey, question: Question): boolean =>
  isResponse(packet) &&
  readQuestionSection(packet, packet.length, key, question) === ReadResult.ok &&
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
