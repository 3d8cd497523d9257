/**
 * Builds the answers of the authoritative server. Does not use dns-packet, which decodes labels as UTF-8, because an
 * answer must repeat the question byte for byte.
 */
import { HEADER_BYTES, nameToText, Question, ReadResult, readQuery, readUint16 } from '../protocol/index.ts';
import type { Lookup, ZoneData, ZoneRecord } from './zoneData.ts';

const NO_KEY = { high: 0, low: 0 };
const RCODE = { NOERROR: 0, FORMERR: 1, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;
const FLAG = {
  response: 0x8000,
  authoritative: 0x0400,
  truncated: 0x0200,
  recursionDesired: 0x0100,
} as const;
const OPT_TYPE = 41;
/** Maximum size of a UDP answer: 512 bytes without EDNS (RFC 1035, 4.2.1), 1232 with EDNS (DNS flag day 2020). */
const PLAIN_UDP_BYTES = 512;
const EDNS_UDP_BYTES = 1232;
const TCP_BYTES = 0xffff;
const OPT = Uint8Array.of(0, 0, OPT_TYPE, EDNS_UDP_BYTES >> 8, EDNS_UDP_BYTES & 0xff, 0, 0, 0, 0, 0, 0);
const POINTER_TO_QUESTION = Uint8Array.of(0xc0, HEADER_BYTES);

/** Returns the answer to a query, or undefined if it gets no answer. `tcp`: the size limits of UDP do not apply. */
export function respond(zones: readonly ZoneData[], query: Uint8Array, tcp: boolean): Uint8Array | undefined {
  const question = new Question();
  const result = readQuery(query, NO_KEY, question);
  if (result === ReadResult.tooShort || result === ReadResult.response) return undefined;
  if (result === ReadResult.transfer)
    return Buffer.concat([
      header(query, RCODE.REFUSED, [1, 0, 0, 0]),
      query.subarray(HEADER_BYTES, question.end),
    ]);
  if (result !== ReadResult.ok)
    return header(query, result === ReadResult.opcode ? RCODE.NOTIMP : RCODE.FORMERR, [0, 0, 0, 0]);
  const name = nameToText(query, HEADER_BYTES);
  const found = lookUp(zones, name, question.type);
  const edns = ednsSize(query, question.end);
  const records = [
    ...found.answers.map((record) => encode(record, true)),
    ...found.authority.map((record) => encode(record, false)),
  ];
  const flags = RCODE[found.rcode] | (found.authoritative ? FLAG.authoritative : 0);
  const additional = edns === undefined ? [] : [OPT];
  const counts = [1, found.answers.length, found.authority.length, additional.length] as const;
  const asked = query.subarray(HEADER_BYTES, question.end);
  const message = Buffer.concat([header(query, flags, counts), asked, ...records, ...additional]);
  const limit = tcp ? TCP_BYTES : Math.min(Math.max(edns ?? 0, PLAIN_UDP_BYTES), EDNS_UDP_BYTES);
  if (message.length <= limit) return message;
  return Buffer.concat([
    header(query, flags | FLAG.truncated, [1, 0, 0, additional.length]),
    asked,
    ...additional,
  ]);
}

/** Looks a name up in the most specific zone that contains the name. */
function lookUp(zones: readonly ZoneData[], name: string, type: number): Lookup {
  const inside = zones.filter((zone) => zone.lookup(name, type).rcode !== 'REFUSED');
  inside.sort((one, other) => other.name.length - one.name.length);
  return (
    inside[0]?.lookup(name, type) ?? { rcode: 'REFUSED', authoritative: false, answers: [], authority: [] }
  );
}

function header(
  query: Uint8Array,
  flags: number,
  counts: readonly [number, number, number, number],
): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, readUint16(query, 0));
  view.setUint16(2, FLAG.response | (readUint16(query, 2) & (FLAG.recursionDesired | 0x7800)) | flags);
  for (const [index, count] of counts.entries()) view.setUint16(4 + 2 * index, count);
  return bytes;
}

/** Encodes a record. In the answer section, the owner is the queried name: `record.owner` may be a wildcard. */
function encode(record: ZoneRecord, isAnswer: boolean): Uint8Array {
  const fixed = new Uint8Array(10);
  const view = new DataView(fixed.buffer);
  view.setUint16(0, record.type);
  view.setUint16(2, 1);
  view.setUint32(4, record.ttlSeconds);
  view.setUint16(8, record.data.length);
  return Buffer.concat([isAnswer ? POINTER_TO_QUESTION : record.owner, fixed, record.data]);
}

/** Returns the UDP answer size that a query permits (EDNS). Undefined if its first additional record is not OPT. */
function ednsSize(query: Uint8Array, questionEnd: number): number | undefined {
  const hasAdditional = readUint16(query, 10) > 0 && readUint16(query, 6) === 0 && readUint16(query, 8) === 0;
  if (!hasAdditional || query[questionEnd] !== 0) return undefined;
  return readUint16(query, questionEnd + 1) === OPT_TYPE ? readUint16(query, questionEnd + 3) : undefined;
}
