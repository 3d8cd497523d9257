/** The answers that the guard gives itself, made in the query's own bytes: a flood of them allocates nothing. */
import { HEADER_BYTES } from '../wire/question.ts';

const RESPONSE = 0x80;
const TRUNCATED = 0x02;
/** What is kept of the query's first flags octet: opcode and recursion desired. */
const KEPT = 0x79;

export const RCODE_FORMERR = 1;
export const RCODE_NOTIMP = 4;

/** Turns a query that cannot be read into a header that says why; returns how many bytes to send. */
export function refuse(packet: Uint8Array, rcode: number): number {
  packet[2] = RESPONSE | ((packet[2] ?? 0) & KEPT);
  packet[3] = rcode;
  packet.fill(0, 4, HEADER_BYTES);
  return HEADER_BYTES;
}

/** Turns a query into the answer "ask over TCP"; returns how many bytes to send. */
export function truncate(packet: Uint8Array, questionEnd: number): number {
  packet[2] = RESPONSE | TRUNCATED | ((packet[2] ?? 0) & KEPT);
  packet[3] = 0;
  packet.fill(0, 6, HEADER_BYTES);
  return questionEnd;
}
