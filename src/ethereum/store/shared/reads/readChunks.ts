import { dataChunksOf, TRACES_PER_CHUNK } from '../../../traces/index.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { BlockRow } from '../tables/blockRow.ts';
import { chunkChecksum, digestOf } from '../tables/checksums.ts';
import type { TracePosition } from '../tables/position.ts';
import { type Reading, throwUnproven } from './blocks.ts';
import { Chunks, keyOf } from './chunks.ts';

const HASH_AT = 2;
const HASH_END = 34;
/** Maximum number of chunks that one query reads, because the URL of the query contains their numbers. */
const MAX_CHUNKS = 1_000;

interface Wanted {
  readonly number: number;
  readonly write: bigint;
  readonly chunk: number;
}

/** Reads the chunks with the given traces, and the data chunks to which they refer. */
export async function readChunks(
  reading: Reading,
  places: readonly TracePosition[],
  maxBytes: number,
): Promise<Chunks> {
  const wanted = new Map<string, Wanted>();
  for (const { number, traceIndex, write } of places) {
    const chunk = Math.floor(traceIndex / TRACES_PER_CHUNK);
    wanted.set(keyOf(number, chunk), { number, write, chunk });
  }
  const chunks = new Chunks(reading.fetched?.chunks);
  const parts = { ...reading, maxBytes, chunks };
  await readInto(parts, [...wanted.values()]);
  await readInto(parts, dataChunksFor([...wanted.values()], chunks));
  return chunks;
}

/** Reads all chunks of a block from number `firstChunk` on. If that is 0, checks the digest of the block. */
export async function readBlockChunks(
  reading: Reading,
  { number, write, chunks: count, hash, digest }: BlockRow,
  { maxBytes, firstChunk = 0 }: { readonly maxBytes: number; readonly firstChunk?: number },
): Promise<Chunks> {
  const chunks = new Chunks(reading.fetched?.chunks);
  const wanted = Array.from({ length: Math.max(0, count - firstChunk) }, (_, i) => ({
    ...{ number, write, chunk: firstChunk + i },
  }));
  await readInto({ ...reading, maxBytes, chunks }, wanted);
  const all = wanted.map(({ chunk }) => chunks.get(number, chunk));
  if (firstChunk === 0 && !digestOf(all).equals(digest))
    throw new UnprovenRead(`ClickHouse: the chunks of block ${number} do not have the digest of the block`, [
      number,
    ]);
  if (all[0] !== undefined && hashIn(all[0]) !== hash)
    throw new UnprovenRead(`ClickHouse: the chunks of block ${number} belong to another block`, [number]);
  return chunks;
}

/** Returns the hash of the block to which a chunk belongs. */
const hashIn = (chunk: Buffer): string => `0x${chunk.toString('hex', HASH_AT, HASH_END)}`;

interface ReadingChunks extends Reading {
  readonly maxBytes: number;
  readonly chunks: Chunks;
}

/** Reads chunks, except those of fetched blocks. Throws UnprovenRead with all blocks whose chunks are damaged. */
async function readInto(reading: ReadingChunks, all: readonly Wanted[]): Promise<void> {
  const wanted = all.filter(({ number, chunk }) => !reading.chunks.has(number, chunk));
  for (let i = 0; i < wanted.length; i += MAX_CHUNKS)
    await readSome(reading, wanted.slice(i, i + MAX_CHUNKS));
}

async function readSome(
  { host, chain, maxBytes, chunks }: ReadingChunks,
  wanted: readonly Wanted[],
): Promise<void> {
  const from = `FROM (SELECT groupArray((number, write, chunk, checksum, bytes)) AS found FROM trace_chunks
    PREWHERE chain = {chain:UInt64}
      AND (number, write, chunk) IN arrayZip({numbers:Array(UInt32)}, {writes:Array(UInt64)}, {chunks:Array(UInt32)}))`;
  const parameters = {
    chain: String(chain),
    numbers: wanted.map(({ number }) => number),
    writes: wanted.map(({ write }) => write),
    chunks: wanted.map(({ chunk }) => chunk),
  };
  await host.row({ columns: 'found', from, parameters }, maxBytes, (row) =>
    row.array(() => {
      const [number, write, chunk] = [row.uint32(), row.bigUint64(), row.uint32()];
      const [checksum, bytes] = [row.bigUint64(), row.bytes()];
      if (chunkChecksum({ chain, number, chunk, write }, bytes) === checksum)
        chunks.set(number, chunk, bytes);
    }),
  );
  throwUnproven(
    wanted.flatMap(({ number, chunk }) =>
      chunks.has(number, chunk)
        ? []
        : new UnprovenRead(
            `ClickHouse: chunk ${chunk} of block ${number} is missing, or does not have its checksum`,
            [number],
          ),
    ),
  );
}

/** Returns which data chunks the traces in the `wanted` chunks refer to. */
function dataChunksFor(wanted: readonly Wanted[], chunks: Chunks): Wanted[] {
  const found = new Map<string, Wanted>();
  for (const { number, write, chunk } of wanted) {
    const bytes = chunks.get(number, chunk);
    for (let index = 0; index < TRACES_PER_CHUNK && index < (bytes[0] ?? 0); index++)
      for (const data of dataChunksOf(bytes, index))
        if (!chunks.has(number, data)) found.set(keyOf(number, data), { number, write, chunk: data });
  }
  return [...found.values()];
}
