/** Reads the OPT record of a query (EDNS, RFC 6891), in one bounded pass without allocation. */
import { HEADER_BYTES, RECORD_HEAD_BYTES, readUint16, skipName } from './wire.ts';

export const OPT_TYPE = 41;
/** Size of an OPT record without options: root name, type, class, TTL and data length (RFC 6891, 6.1.2). */
export const OPT_BYTES = 1 + RECORD_HEAD_BYTES;
const OPTION_HEAD_BYTES = 4;
const COOKIE_OPTION = 10;
/** Sizes of a DNS cookie option: a client cookie, alone or with a server cookie (RFC 7873, 4). */
const CLIENT_COOKIE_BYTES = 8;
const LEAST_COOKIES_BYTES = 16;
const MOST_COOKIES_BYTES = 40;
const TYPE_AND_CLASS_BYTES = 4;
const DO = 0x80;

/** Properties of the OPT record of a query, as bits of one number. 0: the query has no OPT record. */
export const Edns = {
  opt: 1,
  /** The DO bit: the client wants DNSSEC records (RFC 3225). */
  dnssecOk: 2,
  /** The record or an option is malformed, the owner is not the root, or there are several OPT records. */
  malformed: 4,
  /** There is exactly one DNS cookie option, and its size is valid. */
  cookie: 8,
} as const;

/** Returns the properties of the OPT record of a query ({@link Edns}). `start`: offset after the question section. */
export function readEdns(packet: Uint8Array, start: number): number {
  const additional = readUint16(packet, 10);
  if (additional === 0) return 0;
  const before = readUint16(packet, 6) + readUint16(packet, 8);
  let edns = 0;
  let at = start;
  for (let record = 0; record < before + additional; record++) {
    const head = skipName(packet, at);
    if (head === 0) break;
    const data = head + RECORD_HEAD_BYTES;
    const end = data + readUint16(packet, data - 2);
    if (record >= before && readUint16(packet, head) === OPT_TYPE)
      edns = edns === 0 && head === at + 1 ? ednsOf(packet, head, end) : edns | Edns.malformed;
    at = end;
  }
  return edns;
}

/** Returns the offset after the question section of a query. Returns 0 if it exceeds the packet. */
export function questionsEnd(packet: Uint8Array): number {
  let at = HEADER_BYTES;
  for (let questions = readUint16(packet, 4); questions > 0; questions--) {
    const nameEnd = skipName(packet, at);
    if (nameEnd === 0) return 0;
    at = nameEnd + TYPE_AND_CLASS_BYTES;
  }
  return at <= packet.length ? at : 0;
}

/**
 * Returns true if a query without a question contains an OPT record with exactly one valid DNS cookie, and nothing
 * else (RFC 7873, 5.4). `edns`: result of {@link readEdns}.
 */
export const isCookieQuery = (packet: Uint8Array, edns: number): boolean =>
  (edns & (Edns.cookie | Edns.malformed)) === Edns.cookie &&
  readUint16(packet, 4) === 0 &&
  readUint16(packet, 6) === 0 &&
  readUint16(packet, 8) === 0 &&
  readUint16(packet, 10) === 1 &&
  HEADER_BYTES + OPT_BYTES + readUint16(packet, HEADER_BYTES + OPT_BYTES - 2) === packet.length;

/** Returns the properties of an OPT record. `head`: offset after its owner. `end`: offset after the record. */
function ednsOf(packet: Uint8Array, head: number, end: number): number {
  const options = head + RECORD_HEAD_BYTES;
  // A cut record is not repeated in the answer, so that the answer is not longer than the query.
  if (options > packet.length) return Edns.malformed;
  const edns = ((packet[head + 6] ?? 0) & DO) === 0 ? Edns.opt : Edns.opt | Edns.dnssecOk;
  if (end > packet.length) return edns | Edns.malformed;
  // The DNS server answers BADVERS to another version, whose options the guard cannot check.
  return packet[head + 5] === 0 ? edns | optionsOf(packet, options, end) : edns;
}

function optionsOf(packet: Uint8Array, start: number, end: number): number {
  let cookies = 0;
  let isValid = false;
  let at = start;
  while (at + OPTION_HEAD_BYTES <= end) {
    const size = readUint16(packet, at + 2);
    if (readUint16(packet, at) === COOKIE_OPTION) {
      cookies++;
      isValid = size === CLIENT_COOKIE_BYTES || (size >= LEAST_COOKIES_BYTES && size <= MOST_COOKIES_BYTES);
    }
    at += OPTION_HEAD_BYTES + size;
  }
  if (at !== end) return Edns.malformed;
  return cookies === 1 && isValid ? Edns.cookie : 0;
}
