/** The polynomial of CRC-32 as gzip has it (RFC 1952, 8), its bits reversed. */
const POLYNOMIAL = 0xedb88320;
/** 1 and x, as polynomials over GF(2) with their bits reversed. */
const ONE = 0x80000000;
const X = 0x40000000;
/** x to the power of 8: one byte further. */
const BYTE_EXPONENT_BITS = 3;

/** The product of two polynomials, modulo that of CRC-32. */
function product(a: number, b: number): number {
  let sum = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return sum >>> 0;
}

/** What the checksum of a text is multiplied by where so many bytes follow it. */
export function crcShift(bytes: number): number {
  let power = X;
  for (let i = 0; i < BYTE_EXPONENT_BITS; i++) power = product(power, power);
  let shift = ONE;
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = product(power, shift);
    power = product(power, power);
  }
  return shift >>> 0;
}

/** The checksum of two texts, the second behind the first, from those of each and the shift by the second's length. */
export const joinedCrc32 = (first: number, second: number, shift: number): number =>
  (product(shift, first) ^ second) >>> 0;
