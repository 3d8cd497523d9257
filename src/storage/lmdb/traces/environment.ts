import { type Database, open, type RootDatabase } from 'lmdb';

/**
 * The traces' LMDB environment: one file, one writer (this process), readers that see one commit each.
 * Databases are flat maps of bytes; what they hold is in keys.ts and records.ts.
 */
export interface TraceEnvironment {
  readonly root: RootDatabase;
  /** Name to bytes: chain, head, finalized, format. */
  readonly meta: Database<Buffer, Buffer>;
  /** Block number to its record. */
  readonly blocks: Database<Buffer, Buffer>;
  /** Block number and chunk number to a chunk of traces, compressed with LZ4. */
  readonly chunks: Database<Buffer, Buffer>;
  /** Segment, side, term and page number to positions. */
  readonly postings: Database<Buffer, Buffer>;
  /** Segment to the number of traces of each of its blocks. */
  readonly counts: Database<Buffer, Buffer>;
}

/** Values below this are not worth compressing. */
const COMPRESSION_THRESHOLD_BYTES = 100;

/** The environment in the folder `path`, which is made where it is missing. */
export function openTraceEnvironment(path: string): TraceEnvironment {
  const root = open({ path, maxDbs: 8, keyEncoding: 'binary', encoding: 'binary' });
  const map = (name: string, compression: boolean): Database<Buffer, Buffer> =>
    root.openDB<Buffer, Buffer>({
      name,
      keyEncoding: 'binary',
      encoding: 'binary',
      ...(compression && { compression: { threshold: COMPRESSION_THRESHOLD_BYTES } }),
    });
  return {
    root,
    meta: map('meta', false),
    blocks: map('blocks', false),
    chunks: map('chunks', true),
    postings: map('postings', false),
    counts: map('counts', true),
  };
}
