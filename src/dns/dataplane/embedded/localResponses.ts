/** The answers that the guard gives itself, made in the query's own bytes: a flood of them allocates nothing. */
import { HEADER_BYTES, ReadResult } from '../../protocol/index.ts';

const RESPONSE = 0x80;
const TRUNCATED = 0x02;
/** What is kept of the query's first flags octet: opcode and recursion desired. */
const KEPT = 0x79;

export const RCODE_FORMERR = 1;
export const RCODE_SERVFAIL = 2;
const RCODE_NOTIMP = 4;
const RCODE_REFUSED = 5;

/** Turns a packet that is no query to decide about into the answer that says why; returns how many bytes to send. */
export function answerFault(packet: Uint8Array, result: ReadResult, questionEnd: number): number {
  // A transfer that is allowed never comes here.
  if (result === ReadResult.transfer) return refuse(packet, questionEnd);
  return headerAlone(packet, result === ReadResult.opcode ? RCODE_NOTIMP : RCODE_FORMERR);
}

/** There may be no question that could be sent back. */
function headerAlone(packet: Uint8Array, rcode: number): number {
  packet[2] = RESPONSE | ((packet[2] ?? 0) & KEPT);
  packet[3] = rcode;
  packet.fill(0, 4, HEADER_BYTES);
  return HEADER_BYTES;
}

/** Turns a query into the answer REFUSED; returns how many bytes to send. */
export function refuse(packet: Uint8Array, questionEnd: number): number {
  clearRecords(packet, 0, RCODE_REFUSED);
  return questionEnd;
}

/** Turns a query into the answer "ask over TCP"; returns how many bytes to send. */
export function truncate(packet: Uint8Array, questionEnd: number): number {
  clearRecords(packet, TRUNCATED, 0);
  return questionEnd;
}

function clearRecords(packet: Uint8Array, flags: number, rcode: number): void {
  packet[2] = RESPONSE | flags | ((packet[2] ?? 0) & KEPT);
  packet[3] = rcode;
  packet.fill(0, 6, HEADER_BYTES);
}
