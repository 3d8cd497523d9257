import { describeValue } from '../invalidRule.ts';

const MAX_LABEL_OCTETS = 63;
const MAX_NAME_OCTETS = 255;
const MAX_OCTET = 255;

const octet = '(?:[A-Za-z0-9_*/-]|\\\\(?:[01][0-9]{2}|2[0-4][0-9]|25[0-5]|[!-/:-~]))';
/** An octet other than `*`, which is also `\*` and `\042`. */
const notStar =
  '(?:[A-Za-z0-9_/-]|\\\\(?:0[0-35-9][0-9]|04[013-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5]|[!-)+-/:-~]))';
/** A label other than `*`. Some generators of clients do not support a lookahead. */
const label = `(?:${notStar}|${octet}{2,${MAX_LABEL_OCTETS}})`;
/** Pattern of the zone name of a new policy. The total length has its own limit. */
export const zonePattern = `^(?:\\.|(?:${label}\\.){0,126}${label}\\.?)$`;
/** Maximum length of a zone name as text: each octet may need four characters. */
export const MAX_ZONE_CHARACTERS = 4 * MAX_NAME_OCTETS;

export const allowedZone =
  'a DNS name such as example.com, 0/25.2.0.192.in-addr.arpa or . (the root); other characters as \\DDD';
const PLAIN = /^[a-z0-9_*/-]$/;

/** The text is not a zone name. The message says what is allowed. */
export class BadZoneError extends Error {
  override readonly name = 'BadZoneError';

  constructor(zone: unknown, reason?: string) {
    const why = reason === undefined ? '' : ` (${reason})`;
    super(`zone must be ${allowedZone}; got ${describeValue(zone)}${why}`);
  }
}

/**
 * Returns a zone name in its stored form: lower case, no final dot, `.` for the root, and octets other than letters,
 * digits, `_`, `*`, `/` and `-` as `\DDD`. Throws `BadZoneError`.
 */
export function canonicalZone(zone: unknown): string {
  if (typeof zone !== 'string') throw new BadZoneError(zone);
  if (zone === '.') return zone;
  if (zone.length > MAX_ZONE_CHARACTERS) throw new BadZoneError(zone, 'it is longer than 255 octets');
  const labels = labelsOf(zone);
  // A final dot marks the name as absolute, so the empty last label is dropped.
  if (labels.length > 1 && labels.at(-1)?.length === 0) labels.pop();
  for (const { length } of labels) {
    if (length === 0) throw new BadZoneError(zone, 'a label is empty');
    if (length > MAX_LABEL_OCTETS) throw new BadZoneError(zone, 'a label is longer than 63 octets');
  }
  // Each label has a length octet, and the name ends with an empty label (RFC 1035, 3.1).
  const octets = labels.reduce((sum, label) => sum + label.length + 1, 1);
  if (octets > MAX_NAME_OCTETS) throw new BadZoneError(zone, 'it is longer than 255 octets');
  return labels.map((label) => label.map(textOfOctet).join('')).join('.');
}

/** Returns the octets of each label. Escapes are as in zone files: `\DDD` or `\X` (RFC 1035, 5.1). */
function labelsOf(zone: string): number[][] {
  const tokens = zone.matchAll(/\\(\d{3})|\\([!-/:-~])|([A-Za-z0-9_*/-])|(\.)|([\s\S])/gu);
  const labels: number[][] = [[]];
  for (const [, decimal, escaped, plain, dot, other] of tokens) {
    if (other !== undefined) throw new BadZoneError(zone, reasonOf(other));
    if (dot !== undefined) labels.push([]);
    else if (decimal === undefined) labels.at(-1)?.push((escaped ?? plain ?? '').charCodeAt(0));
    else if (Number(decimal) <= MAX_OCTET) labels.at(-1)?.push(Number(decimal));
    else throw new BadZoneError(zone, `\\${decimal} is above \\255`);
  }
  return labels;
}

function reasonOf(character: string): string {
  if (character === '\\') return 'invalid escape after \\';
  const code = character.charCodeAt(0);
  return code < 0x80
    ? `write the character ${JSON.stringify(character)} as ${decimalEscape(code)}`
    : 'write international names as A-labels: xn--…';
}

function textOfOctet(code: number): string {
  const character = String.fromCharCode(code).toLowerCase();
  return code < 0x80 && PLAIN.test(character) ? character : decimalEscape(code);
}

const decimalEscape = (code: number): string => `\\${String(code).padStart(3, '0')}`;
