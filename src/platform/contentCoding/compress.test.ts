import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPRESSORS, type Coding, DECOMPRESSORS } from './coding.ts';
import { compressed } from './compress.ts';

const read = (coding: Coding, bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    DECOMPRESSORS.get(coding)?.(bytes, { maxOutputLength: 100_000_000, info: true }, (error, result) =>
      error === null ? resolve(result.buffer) : reject(error),
    ),
  );

const part = fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 5_000 }));

describe.each([...COMPRESSORS.keys()])('%s', (coding) => {
  it('compresses the parts so that they decompress unchanged, and charges the compressed size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 20 }), async (parts) => {
        let charged = 0;
        const chunks =
          (await compressed(coding, parts, (bytes) => {
            charged += bytes;
            return true;
          })) ?? [];
        const bytes = Buffer.concat(chunks);
        expect(charged).toBe(bytes.length);
        expect(await read(coding, bytes)).toEqual(
          Buffer.concat(parts.map((each) => Buffer.from(each as Buffer))),
        );
      }),
      { numRuns: 20 },
    );
  });

  it('stops if no memory is left', async () => {
    const random = Buffer.from(Array.from({ length: 150_000 }, () => Math.random() * 256));
    let asked = 0;
    const chunks = await compressed(coding, [random], (bytes) => {
      asked += bytes;
      return asked < 20_000;
    });
    expect(chunks).toBeUndefined();
    expect(asked).toBeLessThan(random.length / 2);
  });
});
