import { expect, test } from 'vitest';
import { uint32 } from './recordReader.ts';

test('a number of four bytes is read with its lowest byte first', () => {
  const bytes = Uint8Array.of(0, 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff);
  expect([uint32(bytes, 1), uint32(bytes, 5)]).toEqual([0x04030201, 0xffffffff]);
});
