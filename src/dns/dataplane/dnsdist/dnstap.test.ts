import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readTapFrame } from './dnstap.ts';

it('parsing a dnstap frame never throws, for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      readTapFrame(bytes);
      readTapFrame(Uint8Array.from([(14 << 3) | 2, bytes.length & 0x7f, ...bytes]));
    }),
    { numRuns: 2000 },
  );
});

it('a dnstap frame contains the time of the query or of the answer, in milliseconds', () => {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value % 128) | 0x80, ...varint(Math.floor(value / 128))];
  const bytes = (number: number, value: readonly number[]) => [(number << 3) | 2, value.length, ...value];
  const number = (field: number, value: number) => [field << 3, ...varint(value)];
  const fixed32 = (field: number, value: number) => [
    (field << 3) | 5,
    ...Buffer.from(Uint32Array.of(value).buffer),
  ];
  const timeOf = (type: number): number | undefined => {
    const message = [
      ...number(1, type),
      ...number(8, 1_700_000_000),
      ...fixed32(9, 999_000_000),
      ...bytes(10, [1]),
      ...number(12, 1_700_000_001),
      ...fixed32(13, 4_500_000),
      ...bytes(14, [2]),
    ];
    return readTapFrame(Uint8Array.from(bytes(14, message)))?.timeMs;
  };
  expect(timeOf(5)).toBe(1_700_000_000_999);
  expect(timeOf(6)).toBe(1_700_000_001_004.5);
});
