import { crc32, gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crcShift, joinedCrc32 } from './crc32.ts';
import { deflated, gzipAround } from './deflated.ts';

describe('bytes that are kept compressed', () => {
  it('are one gzip member with any text before and behind them', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.oneof(
          fc.uint8Array({ maxLength: 2_000 }),
          fc.string().map((text) => Buffer.from(text.repeat(500))),
        ),
        fc.string({ maxLength: 20 }),
        async (before, bytes, behind) => {
          const parts = gzipAround(before, await deflated(bytes), behind) ?? [];
          // Its own checksum and length are looked at here.
          expect(gunzipSync(Buffer.concat(parts))).toEqual(
            Buffer.concat([Buffer.from(before), bytes, Buffer.from(behind)]),
          );
        },
      ),
      { numRuns: 50 },
    );
  });

  it('are compressed once, and their memory is of their own length', async () => {
    const kept = await deflated(Buffer.alloc(1_000_000, 'log'));
    const one = gzipAround('1', kept, '') ?? [];
    const other = gzipAround('another', kept, '}') ?? [];
    expect(one[1]).toBe(kept.blocks);
    expect(other[1]).toBe(kept.blocks);
    expect(kept.blocks.buffer.byteLength).toBe(kept.blocks.length);
    expect(kept.blocks.length).toBeLessThan(5_000);
  });

  it('cannot stand beside a text of more than a stored block', async () => {
    const kept = await deflated(Buffer.from('x'));
    expect(gzipAround('x'.repeat(65_535), kept, '')).toBeDefined();
    expect(gzipAround('x'.repeat(65_536), kept, '')).toBeUndefined();
    expect(gzipAround('é'.repeat(40_000), kept, '')).toBeUndefined();
  });
});

it('the checksum of two texts follows from those of each', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 70_000 }), (a, b) => {
      const joined = joinedCrc32(crc32(a), crc32(b), crcShift(b.length));
      expect(joined).toBe(crc32(Buffer.concat([a, b])));
    }),
  );
});
