import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isLowerHex } from './isLowerHex.ts';

const PATTERN = /^0x[0-9a-f]*$/;
/** The characters next to digits and letters, and some that end in a digit's byte. */
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

it('says what the pattern says, for texts of any length with anything anywhere', () => {
  // Around the lengths where it goes another way: 64 characters and 16384 bytes.
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

it('is true of nothing but digits after the prefix, in either half of a word', () => {
  for (let code = 0; code < 0x180; code++)
    for (const length of [5, 70, 71, 72, 73]) {
      const text = `0x${'0'.repeat(length)}${String.fromCharCode(code)}`;
      expect(isLowerHex(text), `character ${code}`).toBe(PATTERN.test(text));
    }
});
