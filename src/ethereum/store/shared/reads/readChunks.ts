import { chunkOf, dataChunksOf } from '../../../traces/index.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { BlockRow } from '../tables/blockRow.ts';
import { type ChunkKey, chunkChecksum, digestOf } from '../tables/checksums.ts';
import type { TracePosition } from '../tables/position.ts';
import { type Reading, throwUnproven } from './blocks.ts';
import { Chunks, keyOf } from './chunks.ts';

/** Maximum number of chunks that one query reads, because the URL of the query contains their numbers. */
const MAX_CHUNKS = 1_000;

/** Reads the chunks with the given traces, and the data chunks to which they refer. */
export async function readChunks(
  reading: Reading,
  places: readonly TracePosition[],
  maxBytes: number,
): Promise<Chunks> {
  const chunks = new Chunks(reading.fetched.chunks);
  const into = { ...reading, maxBytes, chunks };
  const read = await readInto(
    into,
    places.map(({ number, traceIndex, write }) => ({ number, write, chunk: chunkOf(traceIndex) })),
  );
  await readInto(
    into,
    read.flatMap((key) => dataChunksFor(key, chunks.get(key.number, key.chunk))),
  );
  return chunks;
}

/** Reads all chunks of blocks from number `firstChunk` on. If that is 0, checks the digests of the blocks. */
export async function readBlockChunks(
  reading: Reading,
  blocks: readonly BlockRow[],
  { maxBytes, firstChunk = 0 }: { readonly maxBytes: number; readonly firstChunk?: number },
): Promise<Chunks> {
  const chunks = new Chunks(reading.fetched.chunks);
  const keysOf = ({ number, write, chunks: count }: BlockRow): ChunkKey[] =>
    Array.from({ length: Math.max(0, count - firstChunk) }, (_, i) => ({
      number,
      write,
      chunk: firstChunk + i,
    }));
  await readInto({ ...reading, maxBytes, chunks }, blocks.flatMap(keysOf));
  if (firstChunk > 0) return chunks;
  const isChanged = (block: BlockRow): boolean =>
    !digestOf(keysOf(block).map(({ number, chunk }) => chunks.get(number, chunk))).equals(block.digest);
  throwUnproven(
    blocks.filter(isChanged).map(({ number }) => {
      const problem = 'do not have the digest of the block';
      return new UnprovenRead(`ClickHouse: the chunks of block ${number} ${problem}`, [number]);
    }),
  );
  return chunks;
}

interface ReadingChunks extends Reading {
  readonly maxBytes: number;
  readonly chunks: Chunks;
}

/**
 * Reads chunks that are not read yet, and returns their positions. Throws UnprovenRead with all blocks whose chunks are
 * damaged.
 */
async function readInto(reading: ReadingChunks, all: readonly ChunkKey[]): Promise<ChunkKey[]> {
  const missing = all.filter(({ number, chunk }) => !reading.chunks.has(number, chunk));
  const wanted = [...new Map(missing.map((one) => [keyOf(one.number, one.chunk), one])).values()];
  for (let i = 0; i < wanted.length; i += MAX_CHUNKS)
    await readSome(reading, wanted.slice(i, i + MAX_CHUNKS));
  return wanted;
}

async function readSome(reading: ReadingChunks, wanted: readonly ChunkKey[]): Promise<void> {
  const { host, chain, maxBytes, chunks } = reading;
  const from = `FROM (SELECT groupArray((number, write, chunk, checksum, bytes)) AS found FROM trace_chunks
    PREWHERE chain = {chain:UInt64}
      AND (number, write, chunk) IN arrayZip({numbers:Array(UInt32)}, {writes:Array(UInt64)}, {chunks:Array(UInt32)}))`;
  const parameters = {
    chain: String(chain),
    numbers: wanted.map(({ number }) => number),
    writes: wanted.map(({ write }) => write),
    chunks: wanted.map(({ chunk }) => chunk),
  };
  await host.row({ columns: 'found', from, parameters, maxBytes }, (row) =>
    row.array(() => {
      const key = { number: row.uint32(), write: row.bigUint64(), chunk: row.uint32() };
      const [checksum, bytes] = [row.bigUint64(), row.bytes()];
      if (chunkChecksum(chain, key, bytes) === checksum) chunks.set(key.number, key.chunk, bytes);
    }),
  );
  const damaged = wanted.filter(({ number, chunk }) => !chunks.has(number, chunk));
  throwUnproven(
    damaged.map(({ number, chunk }) => {
      const problem = 'is missing, or does not have its checksum';
      return new UnprovenRead(`ClickHouse: chunk ${chunk} of block ${number} ${problem}`, [number]);
    }),
  );
}

/** Returns the data chunks to which the traces of a chunk refer. */
const dataChunksFor = ({ number, write }: ChunkKey, bytes: Buffer): ChunkKey[] =>
  Array.from({ length: bytes[0] ?? 0 }, (_, index) => dataChunksOf(bytes, index))
    .flat()
    .map((chunk) => ({ number, write, chunk }));
