/** Parses the TSIG record of a DNS message (RFC 8945, 4.2). The record must be the last additional record. */
import { expandName, HEADER_BYTES, nameToText, readUint16, skipName } from '../protocol/index.ts';

export const TSIG_TYPE = 250;
export const CLASS_ANY = 255;
const SECTION_COUNTS = [6, 8, 10];
/** Bytes of a record's type, class, TTL and data length. */
const RECORD_HEADER_BYTES = 10;

export interface TsigRecord {
  /** Offset of the TSIG record in the message. The signature covers the bytes before this offset. */
  readonly start: number;
  readonly name: string;
  readonly algorithm: string;
  /** Signing time, and fudge (the permitted error of this time), in wire form. */
  readonly timers: Buffer;
  readonly timeSeconds: number;
  readonly fudgeSeconds: number;
  readonly mac: Buffer;
  readonly originalId: Buffer;
  readonly error: number;
  /** The fields Error, Other Len and Other Data of the record, in wire form. */
  readonly errorAndOther: Buffer;
}

/** Returns the TSIG record of a message, if any. Throws if the message is malformed or the record is not the last. */
export function readTsig(message: Buffer): TsigRecord | undefined {
  let at = HEADER_BYTES;
  for (let questions = readUint16(message, 4); questions > 0; questions--) at = skipName(message, at) + 4;
  const [answers = 0, authorities = 0, additional = 0] = SECTION_COUNTS.map((count) =>
    readUint16(message, count),
  );
  for (let left = answers + authorities + additional; left > 0; left--) {
    const header = skipName(message, at);
    const end = header + RECORD_HEADER_BYTES + readUint16(message, header + 8);
    if (header === 0 || end > message.length) throw new Error('malformed record');
    if (readUint16(message, header) === TSIG_TYPE) {
      if (
        left !== 1 ||
        additional === 0 ||
        end !== message.length ||
        readUint16(message, header + 2) !== CLASS_ANY
      )
        throw new Error('the TSIG record is not the last record of the answer');
      return tsigAt(message, at, header + RECORD_HEADER_BYTES);
    }
    at = end;
  }
  return undefined;
}

function tsigAt(message: Buffer, start: number, dataAt: number): TsigRecord {
  const name = expandName(message, start);
  const algorithm = expandName(message, dataAt);
  const timersAt = skipName(message, dataAt);
  const macAt = timersAt + 10;
  const idAt = macAt + readUint16(message, timersAt + 8);
  const otherEnd = idAt + 6 + readUint16(message, idAt + 4);
  if (name === undefined || algorithm === undefined || otherEnd !== message.length)
    throw new Error('malformed TSIG record');
  return {
    start,
    name: nameToText(name),
    algorithm: nameToText(algorithm),
    timers: message.subarray(timersAt, timersAt + 8),
    timeSeconds: message.readUIntBE(timersAt, 6),
    fudgeSeconds: readUint16(message, timersAt + 6),
    mac: message.subarray(macAt, idAt),
    originalId: message.subarray(idAt, idAt + 2),
    error: readUint16(message, idAt + 2),
    errorAndOther: message.subarray(idAt + 2, otherEnd),
  };
}
