/** Answers that the guard itself generates. docs/reference/dns-answers.md lists them. */
import { Edns, HEADER_BYTES, OPT_BYTES, OPT_TYPE, ReadResult } from '../../protocol/index.ts';

const RESPONSE = 0x80;
const TRUNCATED = 0x02;
/** Bits of the first octet of flags that an answer copies from the query: opcode and RD. */
const KEPT = 0x79;

const RCODE_FORMERR = 1;
export const RCODE_SERVFAIL = 2;
const RCODE_NOTIMP = 4;
const RCODE_REFUSED = 5;

/** Maximum size of a UDP answer that the OPT record offers (RFC 9715). Queries of clients are smaller. */
const UDP_BYTES = 1232;
const ERROR_OPTION = 15;
/** Size of an Extended DNS Error without text: option code, option length and info code (RFC 8914, 2). */
const ERROR_BYTES = 6;
const LENGTH_BYTES = 2;

interface Content {
  /** Whether the answer repeats the question. If not, it has no question, because that of the query may be unreadable. */
  readonly hasQuestion: boolean;
  readonly flags: number;
  readonly rcode: number;
  /** Info code of the Extended DNS Error (RFC 8914, 4). */
  readonly error: number | undefined;
}

function content(rcode: number, error: number | undefined, hasQuestion = true): Content {
  return { hasQuestion, flags: 0, rcode, error };
}

/** The guard's own answers, with the info codes Other, Blocked, Prohibited, Not Supported, No Reachable Authority. */
export const LocalResponse = {
  truncated: { ...content(0, undefined), flags: TRUNCATED },
  malformed: content(RCODE_FORMERR, undefined, false),
  opcode: content(RCODE_NOTIMP, 21, false),
  transferRefused: content(RCODE_REFUSED, 18),
  networkDenied: content(RCODE_REFUSED, 18),
  nameDenied: content(RCODE_REFUSED, 15),
  limited: content(RCODE_REFUSED, 0),
  noServer: content(RCODE_SERVFAIL, 22),
} as const;
export type LocalResponse = Content;

/** The parts of a query that its answer depends on. */
export interface AnsweredQuery {
  /** Offset after the question section. */
  readonly end: number;
  /** Bits of `Edns`: properties of the OPT record. */
  readonly edns: number;
}

/** Returns the answer to an invalid query, or to a zone transfer, which the caller forwards if it is allowed. */
export function responseTo(result: ReadResult): LocalResponse {
  if (result === ReadResult.transfer) return LocalResponse.transferRefused;
  return result === ReadResult.opcode ? LocalResponse.opcode : LocalResponse.malformed;
}

/**
 * Overwrites a query with an answer, without allocation. Returns the length of the answer, which is at most
 * `packet.length`, so that the guard never sends more bytes over UDP than it received. If they do not fit, the
 * answer has no Extended DNS Error or no OPT record.
 */
export function respondInPlace(packet: Uint8Array, query: AnsweredQuery, response: LocalResponse): number {
  const { hasQuestion, flags, rcode, error } = response;
  const end = hasQuestion ? query.end : HEADER_BYTES;
  packet[2] = RESPONSE | flags | ((packet[2] ?? 0) & KEPT);
  packet[3] = rcode;
  packet.fill(0, hasQuestion ? 6 : 4, HEADER_BYTES);
  const hasOpt = (query.edns & Edns.opt) !== 0 && end + OPT_BYTES <= packet.length;
  if (!hasOpt) return end;
  const hasError = error !== undefined && end + OPT_BYTES + ERROR_BYTES <= packet.length;
  packet[11] = 1;
  writeOpt(packet, end, (query.edns & Edns.dnssecOk) !== 0);
  if (!hasError) return end + OPT_BYTES;
  packet[end + OPT_BYTES - 1] = ERROR_BYTES;
  writeError(packet, end + OPT_BYTES, error);
  return end + OPT_BYTES + ERROR_BYTES;
}

/** Returns an answer to a TCP query, with its length prefix. It has every part, even if the query is shorter. */
export function framedResponse(packet: Uint8Array, query: AnsweredQuery, response: LocalResponse): Buffer {
  const end = response.hasQuestion ? query.end : HEADER_BYTES;
  const framed = Buffer.alloc(LENGTH_BYTES + end + OPT_BYTES + ERROR_BYTES);
  const answer = framed.subarray(LENGTH_BYTES);
  answer.set(packet.subarray(0, end));
  const length = respondInPlace(answer, query, response);
  framed.writeUInt16BE(length);
  return framed.subarray(0, LENGTH_BYTES + length);
}

/** Writes an OPT record of version 0 without options. */
function writeOpt(packet: Uint8Array, at: number, dnssecOk: boolean): void {
  packet.fill(0, at, at + OPT_BYTES);
  packet[at + 2] = OPT_TYPE;
  packet[at + 3] = UDP_BYTES >> 8;
  packet[at + 4] = UDP_BYTES & 0xff;
  packet[at + 7] = dnssecOk ? 0x80 : 0;
}

function writeError(packet: Uint8Array, at: number, infoCode: number): void {
  packet.fill(0, at, at + ERROR_BYTES);
  packet[at + 1] = ERROR_OPTION;
  packet[at + 3] = ERROR_BYTES - 4;
  packet[at + 5] = infoCode;
}
