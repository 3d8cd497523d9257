import { isIPv4, isIPv6 } from 'node:net';
import { nameToWire } from '../protocol/index.ts';
import { absolute, MasterFileError, type MasterRecord } from './masterFile.ts';

const MAX_TEXT_BYTES = 255;

/** The data of a record in wire form. Throws `MasterFileError` for a type that the built-in server does not serve. */
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

function ipv4(text: string, record: MasterRecord): Uint8Array {
  if (!isIPv4(text)) throw new MasterFileError(record.line, `"${text}" is no IPv4 address`);
  return Uint8Array.from(text.split('.'), Number);
}

function ipv6(text: string, record: MasterRecord): Uint8Array {
  if (!isIPv6(text) || text.includes('.') || text.includes('%'))
    throw new MasterFileError(record.line, `"${text}" is no plain IPv6 address`);
  const [head = '', tail] = text.split('::');
  const groups = (part: string) => part.split(':').filter((group) => group !== '');
  const last = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - groups(head).length - last.length }, () => '0');
  const all = [...groups(head), ...(tail === undefined ? [] : zeros), ...last];
  return Uint8Array.from(
    all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}

function characterString(text: string, record: MasterRecord): Uint8Array {
  const bytes = Buffer.from(text.replaceAll(/\\(.)/g, '$1'));
  if (bytes.length > MAX_TEXT_BYTES)
    throw new MasterFileError(record.line, 'a text is longer than 255 octets: split it into several');
  return Buffer.concat([Uint8Array.of(bytes.length), bytes]);
}

function bigEndian(text: string, bytes: 1 | 2 | 4, record: MasterRecord): Uint8Array {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value >= 2 ** (8 * bytes))
    throw new MasterFileError(record.line, `"${text}" is no number of ${8 * bytes} bits`);
  return Uint8Array.from({ length: bytes }, (_, i) => Math.floor(value / 2 ** (8 * (bytes - 1 - i))) & 0xff);
}
