/** Escapes in domain names and record data (RFC 1035, 5.1): `\X` is the character X, `\DDD` the octet of value DDD. */

const BACKSLASH = 0x5c;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

export interface Escaped {
  readonly octet: number;
  /** Number of bytes that the escape has after the backslash. */
  readonly bytes: number;
}

/** Reads an escape. `at`: offset after the backslash. Returns undefined if the escape is invalid. */
export function escapedAt(text: Buffer, at: number): Escaped | undefined {
  const first = text[at];
  if (first === undefined) return undefined;
  if (first < DIGIT_0 || first > DIGIT_9) return { octet: first, bytes: 1 };
  const digits = /^\d{3}/.exec(text.toString('latin1', at, at + 3))?.[0];
  const octet = Number(digits ?? Number.NaN);
  return octet <= 255 ? { octet, bytes: 3 } : undefined;
}

/** Returns a text as UTF-8 octets, with its escapes resolved. Undefined if an escape is invalid. */
export function unescapeText(text: string): Buffer | undefined {
  const bytes = Buffer.from(text);
  if (!bytes.includes(BACKSLASH)) return bytes;
  const octets: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number; // at is below length
    const escaped = byte === BACKSLASH ? escapedAt(bytes, at + 1) : { octet: byte, bytes: 0 };
    if (escaped === undefined) return undefined;
    octets.push(escaped.octet);
    at += escaped.bytes;
  }
  return Buffer.from(octets);
}
