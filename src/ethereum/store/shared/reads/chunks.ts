import { dataChunksOf, type ReadDataChunk, TRACES_PER_CHUNK } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { BlockRow } from '../tables/blockRow.ts';
import { chunkChecksum, digestOf } from '../tables/checksums.ts';
import type { TracePosition } from '../tables/position.ts';

const HASH_AT = 2;
const HASH_END = 34;
/** Maximum number of chunks that one query reads, because the URL of the query contains their numbers. */
const MAX_CHUNKS = 1_000;

interface Wanted {
  readonly number: number;
  readonly write: bigint;
  readonly chunk: number;
}

/** Chunks of a chain that were read, by block and number. */
export class Chunks {
  readonly #chunks = new Map<string, Buffer>();

  readonly readData: ReadDataChunk = (number, chunk) => this.get(number, chunk);

  set(number: number, chunk: number, bytes: Buffer): void {
    this.#chunks.set(keyOf(number, chunk), bytes);
  }

  has(number: number, chunk: number): boolean {
    return this.#chunks.has(keyOf(number, chunk));
  }

  get(number: number, chunk: number): Buffer {
    const bytes = this.#chunks.get(keyOf(number, chunk));
    if (bytes === undefined)
      throw new UnprovenRead(`ClickHouse: chunk ${chunk} of block ${number} is missing`);
    return bytes;
  }

  /** Returns the chunk that contains a trace. */
  containing({ number, traceIndex }: Omit<TracePosition, 'write'>): Buffer {
    const bytes = this.get(number, Math.floor(traceIndex / TRACES_PER_CHUNK));
    if (traceIndex % TRACES_PER_CHUNK >= (bytes[0] ?? 0))
      throw new UnprovenRead(`ClickHouse: block ${number} has no trace ${traceIndex}`);
    return bytes;
  }
}

/** Reads the chunks with the given traces, and the data chunks to which they refer. */
export async function readChunks(
  host: ClickHouse,
  { chain, maxBytes }: { readonly chain: bigint; readonly maxBytes: number },
  places: readonly TracePosition[],
): Promise<Chunks> {
  const wanted = new Map<string, Wanted>();
  for (const { number, traceIndex, write } of places) {
    const chunk = Math.floor(traceIndex / TRACES_PER_CHUNK);
    wanted.set(keyOf(number, chunk), { number, write, chunk });
  }
  const chunks = new Chunks();
  const parts = { host, chain, maxBytes, chunks };
  await readInto(parts, [...wanted.values()]);
  await readInto(parts, dataChunksFor([...wanted.values()], chunks));
  return chunks;
}

/** Reads all chunks of a block from number `firstChunk` on. If that is 0, checks the digest of the block. */
export async function readBlockChunks(
  host: ClickHouse,
  { chain, maxBytes, firstChunk = 0 }: { chain: bigint; maxBytes: number; firstChunk?: number },
  { number, write, chunks: count, hash, digest }: BlockRow,
): Promise<Chunks> {
  const chunks = new Chunks();
  const wanted = Array.from({ length: Math.max(0, count - firstChunk) }, (_, i) => ({
    ...{ number, write, chunk: firstChunk + i },
  }));
  await readInto({ host, chain, maxBytes, chunks }, wanted);
  const all = wanted.map(({ chunk }) => chunks.get(number, chunk));
  if (firstChunk === 0 && !digestOf(all).equals(digest))
    throw new UnprovenRead(`ClickHouse: the chunks of block ${number} do not have the digest of the block`);
  if (all[0] !== undefined && hashIn(all[0]) !== hash)
    throw new UnprovenRead(`ClickHouse: the chunks of block ${number} belong to another block`);
  return chunks;
}

/** Returns the hash of the block to which a chunk belongs. */
const hashIn = (chunk: Buffer): string => `0x${chunk.toString('hex', HASH_AT, HASH_END)}`;

interface Reading {
  readonly host: ClickHouse;
  readonly chain: bigint;
  readonly maxBytes: number;
  readonly chunks: Chunks;
}

async function readInto(reading: Reading, wanted: readonly Wanted[]): Promise<void> {
  for (let i = 0; i < wanted.length; i += MAX_CHUNKS)
    await readSome(reading, wanted.slice(i, i + MAX_CHUNKS));
}

async function readSome(
  { host, chain, maxBytes, chunks }: Reading,
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
      if (chunkChecksum({ chain, number, chunk, write }, bytes) !== checksum)
        throw new UnprovenRead(`ClickHouse: chunk ${chunk} of block ${number} does not have its checksum`);
      chunks.set(number, chunk, bytes);
    }),
  );
  for (const { number, chunk } of wanted) chunks.get(number, chunk);
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

const keyOf = (number: number, chunk: number): string => `${number} ${chunk}`;
