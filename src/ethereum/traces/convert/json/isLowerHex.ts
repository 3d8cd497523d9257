/**
 * Strings up to this length are checked digit by digit, longer strings four characters at a time. On mainnet blocks,
 * this takes two thirds of the time that a regular expression takes; for a string with 100 kB of code, one fifth.
 */
const SHORT_CHARS = 64;
/** Size in bytes of the buffer for long strings. It fits in the L1 cache, and must be a multiple of four. */
const SCRATCH_BYTES = 16_384;

const encoder = new TextEncoder();
const scratch = new Uint8Array(SCRATCH_BYTES);
const words = new Int32Array(scratch.buffer);
const isHexDigit = new Uint8Array(128);
for (const digit of '0123456789abcdef') isHexDigit[digit.charCodeAt(0)] = 1;

const FOUR_ZERO_DIGITS = 0x30303030;
const HIGH_BITS = 0x80808080 | 0;

/** Whether a string is `0x`, followed only by lower-case hex digits or by nothing. */
export function isLowerHex(text: string): boolean {
  if (!text.startsWith('0x')) return false;
  if (text.length > SHORT_CHARS) return isLongHex(text);
  for (let i = 2; i < text.length; i++) if (isHexDigit[text.charCodeAt(i)] !== 1) return false;
  return true;
}

function isLongHex(text: string): boolean {
  for (let start = 2; start < text.length; start += SCRATCH_BYTES) {
    const part = text.slice(start, start + SCRATCH_BYTES);
    // UTF-8 encodes a non-ASCII character as several bytes, none of which is a digit. Latin-1 could make it a digit.
    if (encoder.encodeInto(part, scratch).read !== part.length || !areHexDigits(part.length)) return false;
  }
  return true;
}

/** Whether the first `length` bytes of the buffer are hex digits. Tests four bytes at a time. */
function areHexDigits(length: number): boolean {
  const fullWords = length >> 2;
  for (let i = 0; i < fullWords; i++) {
    const word = words[i] ?? 0;
    if (word === FOUR_ZERO_DIGITS) continue;
    if ((word & HIGH_BITS) !== 0) return false;
    // Each addition sets the high bit of all bytes from 0x30, 0x3a, 0x61 or 0x67 on: the bounds of [0-9] and [a-f].
    const isDigit = (word + 0x50505050) & ~(word + 0x46464646);
    const isLetter = (word + 0x1f1f1f1f) & ~(word + 0x19191919);
    if (((isDigit | isLetter) & HIGH_BITS) !== HIGH_BITS) return false;
  }
  for (let i = fullWords << 2; i < length; i++) if (isHexDigit[scratch[i] ?? 0] !== 1) return false;
  return true;
}
