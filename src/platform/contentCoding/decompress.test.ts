import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Coding, DECOMPRESSORS } from './coding.ts';
import { bodyCoding, type Decompressed, Decompressor, type ProcessorTime } from './decompress.ts';

const MAX_BYTES = 100_000;
const BOMBS = 16;
const AT_ONCE: ProcessorTime = {
  run: (_client, work) => work(),
  charge: () => undefined,
};

/** Compressors with node's defaults. */
const compressing: Readonly<Record<Coding, ((bytes: Uint8Array) => Buffer) | undefined>> = {
  gzip: zlib.gzipSync,
  deflate: zlib.deflateSync,
  br: zlib.brotliCompressSync,
  zstd: (zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer }).zstdCompressSync,
};
const compress = (coding: Coding, bytes: Uint8Array): Buffer => {
  const sync = compressing[coding];
  if (sync === undefined) throw new Error(`this Node has no ${coding}`);
  return sync(bytes);
};

let clients = 0;
/** Returns another client with each call. */
const client = () => ({ address: `192.0.2.${clients++ % 255}` });
const decompressor = new Decompressor(MAX_BYTES, AT_ONCE);
const decompress = (coding: Coding, bytes: Uint8Array): Promise<Decompressed> =>
  new Promise((resolve) =>
    decompressor.decompress({ coding, bytes, client: client(), isFinished: () => false }, resolve),
  );

describe.each([...DECOMPRESSORS.keys()])('a body in %s', (coding) => {
  it('decompresses to the original bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        expect(await decompress(coding, compress(coding, bytes))).toEqual({
          kind: 'whole',
          bytes: Buffer.from(bytes),
        });
      }),
      { numRuns: 25 },
    );
  });

  it('may have the maximum size and not one byte more', async () => {
    const of = (length: number): Promise<Decompressed> =>
      decompress(coding, compress(coding, Buffer.alloc(length)));
    expect(await of(MAX_BYTES)).toMatchObject({ kind: 'whole' });
    expect(await of(MAX_BYTES + 1)).toEqual({ kind: 'tooLarge' });
  });

  it('that is truncated, corrupt, empty or followed by other data is malformed', async () => {
    const body = compress(coding, Buffer.from('{"jsonrpc":"2.0"}'.repeat(20)));
    for (let length = 0; length < body.length; length++)
      expect(await decompress(coding, body.subarray(0, length)), `cut to ${length}`).toEqual({
        kind: 'malformed',
      });
    for (const behind of ['x', '\0', '{}'])
      expect(await decompress(coding, Buffer.concat([body, Buffer.from(behind)])), behind).toEqual({
        kind: 'malformed',
      });
    expect(await decompress(coding, Buffer.from('{"jsonrpc":"2.0"}'))).toEqual({ kind: 'malformed' });
  });

  it('never causes an exception', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(40), async (bytes, at) => {
        const spoilt = compress(coding, bytes);
        spoilt.writeUInt8((spoilt[at % spoilt.length] ?? 0) ^ 0x55, at % spoilt.length);
        for (const body of [bytes, spoilt])
          expect(['whole', 'malformed', 'tooLarge']).toContain((await decompress(coding, body)).kind);
      }),
      { numRuns: 25 },
    );
  });

  it('that is a decompression bomb of 10 MB uses no more memory than the limit', async () => {
    const bomb = compress(coding, Buffer.alloc(10_000_000));
    expect(bomb.length).toBeLessThan(20_000);
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const results = await Promise.all(
      Array.from({ length: BOMBS }, async () => {
        const result = await decompress(coding, bomb);
        most = Math.max(most, process.memoryUsage().arrayBuffers);
        return result.kind;
      }),
    );
    expect(new Set(results)).toEqual(new Set(['tooLarge']));
    // Dropped chunks may not be collected yet. A single bomb would have 10 MB.
    expect(most - before).toBeLessThan(BOMBS * 1.5 * MAX_BYTES);
  });
});

describe('waiting bodies', () => {
  it('are decompressed a few at a time, and skipped if their client is gone', async () => {
    const few = new Decompressor(MAX_BYTES, AT_ONCE);
    const bytes = zlib.gzipSync(Buffer.alloc(50_000));
    const done: number[] = [];
    let asked = 0;
    await new Promise<void>((resolve) => {
      for (let i = 0; i < 2_000; i++) {
        const isFinished = (): boolean => {
          asked++;
          return i >= 4 && i < 1_999;
        };
        few.decompress({ coding: 'gzip', bytes, client: client(), isFinished }, () => {
          done.push(i);
          // The last body may be finished before one that started earlier.
          if (done.length === 5) resolve();
        });
      }
      expect(asked).toBe(2);
    });
    expect(done.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 1_999]);
  });

  it('of one client are decompressed one at a time, and another client does not wait for them', async () => {
    const few = new Decompressor(MAX_BYTES, AT_ONCE);
    const bytes = zlib.gzipSync(Buffer.alloc(50_000));
    const done: string[] = [];
    let asked = 0;
    await new Promise<void>((resolve) => {
      const send = (address: string): void => {
        const isFinished = (): boolean => {
          asked++;
          return false;
        };
        few.decompress({ coding: 'gzip', bytes, client: { address }, isFinished }, () => {
          done.push(address);
          if (done.length === 51) resolve();
        });
      };
      for (let i = 0; i < 50; i++) send('192.0.2.1');
      expect(asked).toBe(1);
      send('192.0.2.2');
      expect(asked).toBe(2);
    });
    expect(done.indexOf('192.0.2.2')).toBeLessThan(25);
  });

  it('are charged to their client', async () => {
    const charges: [string, number][] = [];
    const one = new Decompressor(MAX_BYTES, {
      run: (_client, work) => work(),
      charge: ({ address }, ms) => charges.push([address, ms]),
    });
    const chargeFor = async (bytes: number): Promise<[string, number] | undefined> => {
      const body = {
        coding: 'gzip',
        bytes: zlib.gzipSync(Buffer.alloc(bytes)),
        client: { address: '192.0.2.1' },
        isFinished: () => false,
      } as const;
      await new Promise((resolve) => one.decompress(body, resolve));
      return charges.pop();
    };
    expect(await chargeFor(MAX_BYTES)).toEqual(['192.0.2.1', 3e-6 * MAX_BYTES]);
    expect(await chargeFor(2 * MAX_BYTES)).toEqual(['192.0.2.1', 3e-6 * MAX_BYTES]);
  });
});

it.each([
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['Identity , identity', undefined],
  ['gzip', 'gzip'],
  ['X-GZIP', 'gzip'],
  ['identity, br', 'br'],
  ['deflate', 'deflate'],
  ['gzip, gzip', 'unknown'],
  ['gzip, br', 'unknown'],
  ['compress', 'unknown'],
  ['gzip;q=1', 'unknown'],
  ['__proto__', 'unknown'],
])('Content-Encoding %j: %s', (header, coding) => {
  expect(bodyCoding(header)).toBe(coding);
});
