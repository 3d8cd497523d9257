import fc from 'fast-check';
import { it } from 'vitest';
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
