import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** A content coding of HTTP (RFC 9110, 8.4.1). */
export type Coding = 'zstd' | 'br' | 'gzip' | 'deflate';

type Create = (options?: { readonly params?: Readonly<Record<number, number>> }) => Transform;
type Decompress = (
  bytes: Uint8Array,
  options: DecompressOptions,
  done: (
    error: Error | null,
    result: { readonly buffer: Buffer; readonly engine: { bytesWritten: number } },
  ) => void,
) => void;

interface DecompressOptions {
  readonly maxOutputLength: number;
  readonly info: true;
  readonly params?: Readonly<Record<number, number>>;
}

/** Zstandard functions of node:zlib. They are missing in the types of the oldest supported Node version. */
interface Zstd {
  readonly createZstdCompress?: Create;
  readonly zstdDecompress?: Decompress;
  readonly constants: { readonly ZSTD_c_compressionLevel: number; readonly ZSTD_d_windowLogMax: number };
}
const { createZstdCompress, zstdDecompress, constants: zstd } = zlib as unknown as Zstd;

// The lowest compression levels are used. For JSON, the highest levels save another tenth of the size, but take two
// to five times as long.
const GZIP_LEVEL = 1;
const BROTLI_QUALITY = 1;
const ZSTD_LEVEL = 1;
/** Brotli window of 256 KiB. The default of 4 MiB would waste memory. */
const BROTLI_WINDOW_BITS = 18;
/** Zstandard window of 8 MiB, as RFC 8878 (3.1.1.1.2) recommends for decoders. A frame may demand a larger one. */
const ZSTD_MAX_WINDOW_BITS = 23;

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = zlib.constants;

/** Compressors in order of preference. `deflate` is missing, because clients interpret it in two ways. */
export const COMPRESSORS: ReadonlyMap<Coding, () => Transform> = new Map<Coding, () => Transform>([
  ...(createZstdCompress === undefined
    ? []
    : [
        [
          'zstd',
          () => createZstdCompress({ params: { [zstd.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
        ] as const,
      ]),
  [
    'br',
    () =>
      zlib.createBrotliCompress({
        params: { [BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_BITS },
      }),
  ],
  ['gzip', () => zlib.createGzip({ level: GZIP_LEVEL })],
]);

export const DECOMPRESSORS: ReadonlyMap<Coding, Decompress> = new Map<Coding, Decompress>([
  ['gzip', zlib.gunzip as unknown as Decompress], // node's types omit the result with `info`
  ['deflate', zlib.inflate as unknown as Decompress],
  ['br', zlib.brotliDecompress as unknown as Decompress],
  ...(zstdDecompress === undefined
    ? []
    : [
        [
          'zstd',
          (bytes, options, done) =>
            zstdDecompress(
              bytes,
              { ...options, params: { [zstd.ZSTD_d_windowLogMax]: ZSTD_MAX_WINDOW_BITS } },
              done,
            ),
        ] as [Coding, Decompress],
      ]),
]);

/** Returns the name of a content coding in lower case, with `gzip` for `x-gzip` (RFC 9110, 8.4.1.3). */
export const normaliseCodingName = (name: string): string => {
  const lower = name.toLowerCase();
  return lower === 'x-gzip' ? 'gzip' : lower;
};
