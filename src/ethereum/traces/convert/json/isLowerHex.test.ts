import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isLowerHex } from './isLowerHex.ts';

const PATTERN = /^0x[0-9a-f]*$/;
/** Neighbours of the digits and letters in ASCII, and characters whose low byte is that of a digit. */
const anyOther = fc.constantFrom(
  '/',
  ':',
  '`',
  'g',
  'A',
  'F',
  '\0',
  '\x7f',
  '\u0130',
  '\u0661',
  'é',
  '\ud83d\ude00',
);

it('isLowerHex agrees with the regular expression for texts of any length with any character at any position', () => {
  // Lengths around the limits of the implementation: 64 characters and 16384 bytes.
  const anyLength = fc.oneof(fc.nat(140), fc.constantFrom(16_384, 16_385, 16_386, 16_387, 40_000));
  fc.assert(
    fc.property(anyLength, fc.option(anyOther), fc.nat(), (length, other, at) => {
      const digits = '0x'.padEnd(length, '0123456789abcdef');
      const place = digits.length === 0 ? 0 : at % digits.length;
      const text = other === null ? digits : digits.slice(0, place) + other + digits.slice(place + 1);
      expect(isLowerHex(text)).toBe(PATTERN.test(text));
    }),
    { numRuns: 500 },
  );
});

it('isLowerHex accepts only hex digits after the prefix, at each position of a word', () => {
  for (let code = 0; code < 0x180; code++)
    for (const length of [5, 70, 71, 72, 73]) {
      const text = `0x${'0'.repeat(length)}${String.fromCharCode(code)}`;
      expect(isLowerHex(text), `character ${code}`).toBe(PATTERN.test(text));
    }
});
