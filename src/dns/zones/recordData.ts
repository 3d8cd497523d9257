import { isIPv4, isIPv6 } from 'node:net';
import { type Answer, encode } from 'dns-packet';
import { BadNameError, HEADER_BYTES, nameToWire, typeNumber, unescapeText } from '../protocol/index.ts';
import { absolute, MasterFileError, type MasterRecord } from './masterFile.ts';

const MAX_TEXT_BYTES = 255;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const MAX_DATA_BYTES = 0xffff;
/** Offset of the data in a message with one record: after header, owner (root), type, class, TTL and length. */
const DATA_OFFSET = HEADER_BYTES + 1 + 10;

/** Number of words that the data of a record must have, by record type. TXT records may have any number. */
const WORDS: ReadonlyMap<string, number> = new Map([
  ...['A', 'AAAA', 'NS', 'CNAME', 'PTR', 'DNAME'].map((type) => [type, 1] as const),
  ['MX', 2],
  ['SRV', 4],
  ['CAA', 3],
  ['SOA', 7],
]);

/**
 * Returns the data of a record in wire form. Names are not encoded with dns-packet, because dns-packet ignores
 * escapes and would encode `first\.last` as two labels. Throws `MasterFileError` for invalid data or an unsupported
 * type.
 */
export function recordData(record: MasterRecord): Uint8Array {
  const data = record.data[0] === '\\#' ? genericData(record) : dataOf(record);
  if (data.length <= MAX_DATA_BYTES) return data;
  throw new MasterFileError(
    record.line,
    `the data has ${data.length} octets; the maximum is ${MAX_DATA_BYTES}`,
  );
}

function dataOf(record: MasterRecord): Uint8Array {
  const { data, type } = record;
  const words = WORDS.get(type) ?? Math.max(1, data.length);
  if (data.length !== words)
    throw new MasterFileError(
      record.line,
      `the ${type} record has ${data.length} data fields, expected ${words}`,
    );
  const word = (index: number): string => data[index] ?? '';
  const name = (index: number): Uint8Array => nameOf(word(index), record);
  const number = (index: number, bytes: 1 | 2 | 4): Uint8Array => bigEndian(word(index), bytes, record);
  switch (type) {
    case 'A':
      return ipv4(word(0), record);
    case 'AAAA':
      return ipv6(word(0), record);
    case 'NS':
    case 'CNAME':
    case 'PTR':
    case 'DNAME':
      return name(0);
    case 'MX':
      return Buffer.concat([number(0, 2), name(1)]);
    case 'SRV':
      return Buffer.concat([number(0, 2), number(1, 2), number(2, 2), name(3)]);
    case 'TXT':
      return Buffer.concat(data.map((text) => characterString(text, record)));
    case 'CAA':
      return Buffer.concat([number(0, 1), characterString(word(1), record), octets(word(2), record)]);
    case 'SOA':
      return Buffer.concat([name(0), name(1), ...[2, 3, 4, 5, 6].map((index) => number(index, 4))]);
    default:
      throw new MasterFileError(record.line, `the built-in server does not serve ${type} records`);
  }
}

/** A field of record data: a number of octets, a name, one or several length-prefixed strings, or all the rest. */
type Part = number | 'name' | 'text' | 'texts' | 'octets';
const PARTS: readonly (readonly [type: string, parts: readonly Part[]])[] = [
  ['A', [4]],
  ['AAAA', [16]],
  ...['NS', 'CNAME', 'PTR', 'DNAME'].map((type) => [type, ['name']] as const),
  ['MX', [2, 'name']],
  ['SRV', [6, 'name']],
  ['TXT', ['texts']],
  ['CAA', [1, 'text', 'octets']],
  ['SOA', ['name', 'name', 20]],
];
/** Fields of record data by type number. Type names cannot be keys, because a file may contain `TYPE1` for `A`. */
const PARTS_OF = new Map(PARTS.map(([type, parts]) => [typeNumber(type), parts]));

/** Parses data of the form `\# LENGTH HEX…` (RFC 3597, 5). If the type is known, the octets must be valid for it. */
function genericData({ data, type, line }: MasterRecord): Uint8Array {
  const [, length = '', ...words] = data;
  const hex = words.join('');
  if (!/^\d+$/.test(length) || !/^[0-9a-f]*$/i.test(hex) || hex.length !== 2 * Number(length))
    throw new MasterFileError(line, '\\# must be followed by the number of octets and the octets in hex');
  const bytes = Buffer.from(hex, 'hex');
  const parts = PARTS_OF.get(typeNumber(type));
  if (parts === undefined || endOf(parts, bytes) === bytes.length) return bytes;
  throw new MasterFileError(line, `the octets after \\# are not valid data of ${type}`);
}

/** Returns the offset in the data after these fields, or NaN if the data does not consist of such fields. */
function endOf(parts: readonly Part[], data: Uint8Array): number {
  let at = 0;
  for (const part of parts) {
    if (part === 'name') at = endOfName(data, at);
    else if (part === 'octets') at = data.length;
    else if (typeof part === 'number') at += part;
    else
      do at += 1 + (data[at] ?? Number.NaN);
      while (part === 'texts' && at < data.length);
    if (!(at <= data.length)) return Number.NaN;
  }
  return at;
}

/** Returns the offset after an uncompressed name, or NaN if the name is invalid. */
function endOfName(data: Uint8Array, start: number): number {
  for (let at = start; ; ) {
    const length = data[at] ?? Number.NaN;
    at += 1 + length;
    if (length === 0) return at - start <= MAX_NAME_BYTES ? at : Number.NaN;
    if (!(length <= MAX_LABEL_BYTES)) return Number.NaN;
  }
}

function nameOf(text: string, record: MasterRecord): Uint8Array {
  try {
    return nameToWire(absolute(text, record.origin));
  } catch (error) {
    if (!(error instanceof BadNameError)) throw error;
    throw new MasterFileError(record.line, error.message);
  }
}

const encoded = (answer: Answer): Uint8Array => encode({ answers: [answer] }).subarray(DATA_OFFSET);

function ipv4(text: string, record: MasterRecord): Uint8Array {
  if (!isIPv4(text)) throw new MasterFileError(record.line, `"${text}" is not an IPv4 address`);
  return encoded({ name: '.', type: 'A', data: text });
}

function ipv6(text: string, record: MasterRecord): Uint8Array {
  if (!isIPv6(text) || text.includes('.') || text.includes('%'))
    throw new MasterFileError(record.line, `"${text}" is not a plain IPv6 address`);
  return encoded({ name: '.', type: 'AAAA', data: text });
}

function octets(text: string, record: MasterRecord): Uint8Array {
  const bytes = unescapeText(text);
  if (bytes !== undefined) return bytes;
  throw new MasterFileError(record.line, 'invalid escape after \\');
}

function characterString(text: string, record: MasterRecord): Uint8Array {
  const bytes = octets(text, record);
  if (bytes.length > MAX_TEXT_BYTES)
    throw new MasterFileError(
      record.line,
      'a character string is longer than 255 octets: split it into several',
    );
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}

function bigEndian(text: string, bytes: 1 | 2 | 4, record: MasterRecord): Uint8Array {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value >= 2 ** (8 * bytes))
    throw new MasterFileError(record.line, `"${text}" is not an unsigned ${8 * bytes}-bit number`);
  return Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 2 ** (8 * (bytes - 1 - i))) & 0xff);
}
