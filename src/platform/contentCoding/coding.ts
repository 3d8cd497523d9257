import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** Content codings (RFC 9110, 8.4.1) that are known here. */
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

/** What newer Nodes have, and the types for the oldest one do not tell. */
interface Zstd {
  readonly createZstdCompress?: Create;
  readonly zstdDecompress?: Decompress;
  readonly constants: { readonly ZSTD_c_compressionLevel: number; readonly ZSTD_d_windowLogMax: number };
}
const { createZstdCompress, zstdDecompress, constants: zstd } = zlib as unknown as Zstd;

// The lowest levels: of an answer's text the highest take a tenth off the size for two to five times the time.
const GZIP_LEVEL = 1;
const BROTLI_QUALITY = 1;
const ZSTD_LEVEL = 1;
/** 256 KiB: brotli's own 4 MiB would be memory for nothing. */
const BROTLI_WINDOW_BITS = 18;
/** 8 MiB, what RFC 8878 (3.1.1.1.2) wants of everybody; a frame may ask for more, and would get it. */
const ZSTD_MAX_WINDOW_BITS = 23;

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN } = zlib.constants;

/** What compresses answers, the best first; `deflate` is not offered, as clients read it in two ways. */
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

/** What decompresses bodies. */
export const DECOMPRESSORS: ReadonlyMap<Coding, Decompress> = new Map<Coding, Decompress>([
  ['gzip', zlib.gunzip as unknown as Decompress], // node's types leave out what `info` changes
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

/** A coding's name as HTTP has it: in any case, and with what old software puts before it (RFC 9110, 8.4.1.3). */
export const codingNamed = (name: string): string => {
  const lower = name.toLowerCase();
  return lower === 'x-gzip' ? 'gzip' : lower;
};
