/** Answers that the guard itself generates. Each answer overwrites the query packet, so no memory is allocated. */
import { HEADER_BYTES, ReadResult } from '../../protocol/index.ts';

const RESPONSE = 0x80;
const TRUNCATED = 0x02;
/** Bits of the first octet of flags that an answer copies from the query: opcode and RD. */
const KEPT = 0x79;

const RCODE_FORMERR = 1;
export const RCODE_SERVFAIL = 2;
const RCODE_NOTIMP = 4;
const RCODE_REFUSED = 5;

/** Overwrites an invalid or forbidden query packet with an error answer. Returns the length of the answer. */
export function answerFault(packet: Uint8Array, result: ReadResult, questionEnd: number): number {
  // The caller forwards allowed zone transfers, so this one is not allowed.
  if (result === ReadResult.transfer) return refuse(packet, questionEnd);
  return headerAlone(packet, result === ReadResult.opcode ? RCODE_NOTIMP : RCODE_FORMERR);
}

/** Builds an answer that consists of a header only, because the question of the query may be unreadable. */
function headerAlone(packet: Uint8Array, rcode: number): number {
  packet[2] = RESPONSE | ((packet[2] ?? 0) & KEPT);
  packet[3] = rcode;
  packet.fill(0, 4, HEADER_BYTES);
  return HEADER_BYTES;
}

export function refuse(packet: Uint8Array, questionEnd: number): number {
  clearRecords(packet, 0, RCODE_REFUSED);
  return questionEnd;
}

export function truncate(packet: Uint8Array, questionEnd: number): number {
  clearRecords(packet, TRUNCATED, 0);
  return questionEnd;
}

function clearRecords(packet: Uint8Array, flags: number, rcode: number): void {
  packet[2] = RESPONSE | flags | ((packet[2] ?? 0) & KEPT);
  packet[3] = rcode;
  packet.fill(0, 6, HEADER_BYTES);
}
