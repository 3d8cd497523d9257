import fc from 'fast-check';
import { expect, it } from 'vitest';
import { QueryStream } from './queryStream.ts';

it('a stream is split into messages for any chunk boundaries, and oversized messages are reduced to the header', () => {
  const message = fc.oneof(
    { weight: 5, arbitrary: fc.uint8Array({ maxLength: 600 }) },
    fc.integer({ min: 4000, max: 65_535 }).map((length) => new Uint8Array(length).fill(length & 0xff)),
  );
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 20 }),
      fc.nat(3),
      (messages, sizes, cutOff) => {
        const read: [string, number][] = [];
        const stream = new QueryStream((framed, length) => {
          expect(framed.readUInt16BE(0)).toBe(length);
          read.push([framed.subarray(2).toString('hex'), length]);
        });
        const bytes = Buffer.concat(
          messages.flatMap((one) => [Uint8Array.of(one.length >> 8, one.length & 0xff), one]),
        );
        const end = bytes.length - Math.min(cutOff, bytes.length);
        for (let at = 0, i = 0; at < end; i++) {
          const size = Math.min(sizes[i % sizes.length] ?? 1, end - at);
          stream.push(Buffer.from(bytes.subarray(at, at + size)));
          at += size;
        }
        const expected = messages.map((one) => [
          Buffer.from(one.length > 4096 ? one.subarray(0, 12) : one).toString('hex'),
          one.length,
        ]);
        const whole = end === bytes.length;
        if (whole) expect(read).toEqual(expected);
        else expect(expected.slice(0, read.length)).toEqual(read);
        if (whole) expect(stream.isMidMessage).toBe(false);
      },
    ),
  );
});
