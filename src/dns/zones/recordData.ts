import { isIPv4, isIPv6 } from 'node:net';
import { type Answer, encode } from 'dns-packet';
import { HEADER_BYTES, nameToWire } from '../protocol/index.ts';
import { absolute, MasterFileError, type MasterRecord } from './masterFile.ts';

const MAX_TEXT_BYTES = 255;
/** Behind the header, the root as owner, and type, class, TTL and length. */
const DATA_OFFSET = HEADER_BYTES + 1 + 10;

/**
 * The data of a record in wire form. Names in it are written by hand: dns-packet takes no escapes, and would make two labels of
 * the `first\.last` of an SOA record. Throws `MasterFileError` for a type that the built-in server does not serve.
 */
export function recordData(record: MasterRecord): Uint8Array {
  const { data, type } = record;
  const word = (index: number): string => {
    const found = data[index];
    if (found === undefined) throw new MasterFileError(record.line, `the ${type} record is too short`);
    return found;
  };
  const name = (index: number): Uint8Array => nameToWire(absolute(word(index), record.origin));
  const number = (index: number, bytes: 1 | 2 | 4): Uint8Array => bigEndian(word(index), bytes, record);
  if (data[0] === '\\#') return Buffer.from(data.slice(2).join(''), 'hex');
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
      return Buffer.concat([number(0, 1), characterString(word(1), record), Buffer.from(word(2))]);
    case 'SOA':
      return Buffer.concat([name(0), name(1), ...[2, 3, 4, 5, 6].map((index) => number(index, 4))]);
    default:
      throw new MasterFileError(record.line, `the built-in server does not serve ${type} records`);
  }
}

/** The data as dns-packet writes it into an answer. */
const encoded = (answer: Answer): Uint8Array => encode({ answers: [answer] }).subarray(DATA_OFFSET);

function ipv4(text: string, record: MasterRecord): Uint8Array {
  if (!isIPv4(text)) throw new MasterFileError(record.line, `"${text}" is no IPv4 address`);
  return encoded({ name: '.', type: 'A', data: text });
}

function ipv6(text: string, record: MasterRecord): Uint8Array {
  if (!isIPv6(text) || text.includes('.') || text.includes('%'))
    throw new MasterFileError(record.line, `"${text}" is no plain IPv6 address`);
  return encoded({ name: '.', type: 'AAAA', data: text });
}

function characterString(text: string, record: MasterRecord): Uint8Array {
  const bytes = Buffer.from(text.replaceAll(/\\(.)/g, '$1'));
  if (bytes.length > MAX_TEXT_BYTES)
    throw new MasterFileError(record.line, 'a text is longer than 255 octets: split it into several');
  return encoded({ name: '.', type: 'TXT', data: [bytes] });
}

function bigEndian(text: string, bytes: 1 | 2 | 4, record: MasterRecord): Uint8Array {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value >= 2 ** (8 * bytes))
    throw new MasterFileError(record.line, `"${text}" is no number of ${8 * bytes} bits`);
  return Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 2 ** (8 * (bytes - 1 - i))) & 0xff);
}
