import { isIPv4 } from 'node:net';
import type { recordData } from '../../src/dns/zones/index.ts';

type MasterRecord = Parameters<typeof recordData>[0];

/** Format of each field of a type's data (RFC 1035, 3.3; RFC 2782; RFC 8659); `texts` matches all remaining fields. */
type Field = 'name' | 'text' | 'texts' | 'octets' | 'ipv4' | 8 | 16 | 32;
const FORMS: Readonly<Record<string, readonly Field[]>> = {
  A: ['ipv4'],
  NS: ['name'],
  CNAME: ['name'],
  PTR: ['name'],
  DNAME: ['name'],
  MX: [16, 'name'],
  SRV: [16, 16, 16, 'name'],
  TXT: ['texts'],
  CAA: [8, 'text', 'octets'],
  SOA: ['name', 'name', 32, 32, 32, 32, 32],
};

/** Types of `FORMS` by number (RFC 3597, 5), and AAAA. */
const KNOWN_NUMBERS = new Set([
  'AAAA',
  ...[1, 2, 5, 6, 12, 15, 16, 28, 33, 39, 257].map((number) => `TYPE${number}`),
]);

/**
 * Returns the data of a record according to the RFCs, without any code under test: `refused` for invalid data,
 * undefined for an unknown type.
 */
export function meaningOf(record: MasterRecord): Buffer | 'refused' | undefined {
  const { data, type, origin } = record;
  const form = FORMS[type];
  if (data[0] === '\\#') {
    const octets = genericData(data.slice(1));
    const isKnown = form !== undefined || KNOWN_NUMBERS.has(type);
    // Generic data of a known type must also be valid for that type; the check of the answers covers that.
    return isKnown && octets !== 'refused' ? undefined : octets;
  }
  if (form === undefined) return undefined;
  const parts: (Buffer | undefined)[] = [];
  if (form[0] === 'texts') {
    if (data.length === 0) return 'refused';
    parts.push(...data.map(text));
  } else {
    if (data.length !== form.length) return 'refused';
    parts.push(...form.map((field, i) => written(field, data[i] ?? '', origin)));
  }
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length ? 'refused' : Buffer.concat(known);
}

/** RFC 3597, 5. */
function genericData([length = '', ...words]: readonly string[]): Buffer | 'refused' {
  const hex = words.join('');
  const isGood = /^\d+$/.test(length) && /^([0-9a-f]{2})*$/i.test(hex) && hex.length === 2 * Number(length);
  return isGood ? Buffer.from(hex, 'hex') : 'refused';
}

function written(field: Field, word: string, origin: string): Buffer | undefined {
  if (field === 'ipv4') return isIPv4(word) ? Buffer.from(word.split('.').map(Number)) : undefined;
  if (field === 'name') return name(word, origin);
  if (field === 'text' || field === 'texts') return text(word);
  if (field === 'octets') return octets(word);
  if (!/^\d+$/.test(word) || BigInt(word) >= 2n ** BigInt(field)) return undefined;
  return Buffer.from(
    BigInt(word)
      .toString(16)
      .padStart(field / 4, '0'),
    'hex',
  );
}

function text(word: string): Buffer | undefined {
  const bytes = octets(word);
  return bytes === undefined || bytes.length > 255
    ? undefined
    : Buffer.concat([Buffer.of(bytes.length), bytes]);
}

/** `\X` is X, `\DDD` is the octet with that number (RFC 1035, 5.1). */
function octets(word: string): Buffer | undefined {
  const parts = [...word.matchAll(/\\(\d{3})|\\(\D)|([^\\])|\\/gsu)].map(([, number, escaped, plain]) => {
    if (number !== undefined) return Number(number) > 255 ? undefined : Buffer.of(Number(number));
    const character = escaped ?? plain;
    return character === undefined ? undefined : Buffer.from(character);
  });
  const known = parts.filter((part) => part !== undefined);
  return known.length < parts.length ? undefined : Buffer.concat(known);
}

function name(word: string, origin: string): Buffer | undefined {
  if (word === '.') return Buffer.of(0);
  const isAbsolute = /(^|[^\\])(\\\\)*\.$/.test(word);
  const whole = word === '@' ? origin : isAbsolute || origin === '.' ? word : `${word}.${origin}`;
  const wire = labelsOf(whole).map((label) => {
    const bytes = octets(label);
    const isGood = bytes !== undefined && bytes.length > 0 && bytes.length < 64;
    return isGood ? Buffer.concat([Buffer.of(bytes.length), bytes]) : undefined;
  });
  const known = wire.filter((label) => label !== undefined);
  const encoded = Buffer.concat([...known, Buffer.of(0)]);
  return known.length < wire.length || encoded.length > 255 ? undefined : encoded;
}

/** Splits a name at the dots that are not escaped. */
function labelsOf(name: string): string[] {
  const labels = [''];
  for (const [token] of name.matchAll(/\\.|./gsu))
    if (token === '.') labels.push('');
    else labels.push((labels.pop() ?? '') + token);
  return labels.at(-1) === '' ? labels.slice(0, -1) : labels;
}
