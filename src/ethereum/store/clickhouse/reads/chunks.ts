import { dataChunksOf, type ReadDataChunk, TRACES_PER_CHUNK } from '../../../traces/index.ts';
import type { ClickHouse } from '../connection/clickHouse.ts';
import { IncompleteReplica } from '../connection/failures.ts';
import type { Tables } from '../tables/tables.ts';
import type { ChunkedBlock, TracePosition } from '../tables/tracePosition.ts';

const HASH_AT = 2;
const HASH_END = 34;
/** Maximum number of chunks that one query reads, because the URL of the query contains their numbers. */
const MAX_CHUNKS = 1_000;

/**
 * Reads chunks of known blocks from ClickHouse, and the data chunks to which they refer. Throws IncompleteReplica if
 * a chunk is missing or its block hash differs from the one in PostgreSQL.
 */
export class ChunkReader {
  readonly #clickHouse: ClickHouse;
  readonly #tables: Tables;
  readonly #chain: number;

  constructor({ clickHouse, tables, chain }: { clickHouse: ClickHouse; tables: Tables; chain: number }) {
    this.#clickHouse = clickHouse;
    this.#tables = tables;
    this.#chain = chain;
  }

  /** Reads the chunks that contain the traces at the given positions. */
  async at(
    places: readonly TracePosition[],
    blockOf: (number: number) => ChunkedBlock | undefined,
    maxBytes: number,
  ): Promise<Chunks> {
    const wanted = new Map<string, Wanted>();
    for (const { number, traceIndex } of places) {
      const chunk = Math.floor(traceIndex / TRACES_PER_CHUNK);
      const block = blockOf(number);
      if (block === undefined)
        throw new IncompleteReplica(`ClickHouse: block ${number} is outside the range`);
      wanted.set(keyOf(number, chunk), { block, chunk });
    }
    return this.#read([...wanted.values()], maxBytes);
  }

  /** Reads all chunks of a block that contain traces, from chunk number `firstChunk` on. */
  ofBlock(block: ChunkedBlock, firstChunk: number, maxBytes: number): Promise<Chunks> {
    const count = Math.ceil(block.traces / TRACES_PER_CHUNK) - firstChunk;
    const wanted = Array.from({ length: Math.max(0, count) }, (_, i) => ({ block, chunk: firstChunk + i }));
    return this.#read(wanted, maxBytes);
  }

  async #read(wanted: readonly Wanted[], maxBytes: number): Promise<Chunks> {
    const chunks = new Chunks();
    await this.#readInto(chunks, wanted, maxBytes);
    await this.#readInto(chunks, dataChunksFor(wanted, chunks), maxBytes);
    return chunks;
  }

  async #readInto(chunks: Chunks, wanted: readonly Wanted[], maxBytes: number): Promise<void> {
    for (let i = 0; i < wanted.length; i += MAX_CHUNKS)
      await this.#readSome(wanted.slice(i, i + MAX_CHUNKS), chunks, maxBytes);
  }

  async #readSome(wanted: readonly Wanted[], chunks: Chunks, maxBytes: number): Promise<void> {
    const from = `FROM (SELECT groupArray((number, chunk, bytes)) AS found FROM ${this.#tables.chunks}
      PREWHERE chain = {chain:UInt32}
        AND (number, chunk, attempt) IN arrayZip({numbers:Array(UInt32)}, {chunks:Array(UInt32)}, {attempts:Array(UInt16)}))`;
    const parameters = {
      chain: this.#chain,
      numbers: wanted.map(({ block }) => block.number),
      chunks: wanted.map(({ chunk }) => chunk),
      attempts: wanted.map(({ block }) => block.attempt),
    };
    await this.#clickHouse.row({ columns: 'found', from, parameters }, maxBytes, (row) =>
      row.array(() => chunks.set(row.uint32(), row.uint32(), row.bytes())),
    );
    for (const { block, chunk } of wanted) checkChunk(chunks.get(block.number, chunk), block, chunk);
  }
}

interface Wanted {
  readonly block: ChunkedBlock;
  readonly chunk: number;
}

/** Returns which data chunks the traces in the `wanted` chunks refer to. */
function dataChunksFor(wanted: readonly Wanted[], chunks: Chunks): Wanted[] {
  const found = new Map<string, Wanted>();
  for (const { block, chunk } of wanted) {
    const bytes = chunks.get(block.number, chunk);
    for (let index = 0; bytes !== undefined && index < TRACES_PER_CHUNK && index < (bytes[0] ?? 0); index++)
      for (const data of dataChunksOf(bytes, index))
        found.set(keyOf(block.number, data), { block, chunk: data });
  }
  return [...found.values()];
}

export class Chunks {
  readonly #chunks = new Map<string, Buffer>();

  readonly readData: ReadDataChunk = (number, chunk) => {
    const bytes = this.get(number, chunk);
    if (bytes === undefined) throw new Error(`data chunk ${chunk} of block ${number} was not read`);
    return bytes;
  };

  set(number: number, chunk: number, bytes: Buffer): void {
    this.#chunks.set(keyOf(number, chunk), bytes);
  }

  get(number: number, chunk: number): Buffer | undefined {
    return this.#chunks.get(keyOf(number, chunk));
  }

  /** Returns the chunk that contains a trace. Throws if the chunk was not read. */
  containing({ number, traceIndex }: TracePosition): Buffer {
    const chunk = this.get(number, Math.floor(traceIndex / TRACES_PER_CHUNK));
    if (chunk === undefined)
      throw new Error(`the chunk of trace ${traceIndex} of block ${number} was not read`);
    return chunk;
  }
}

const keyOf = (number: number, chunk: number): string => `${number} ${chunk}`;

function checkChunk(bytes: Buffer | undefined, block: ChunkedBlock, chunk: number): void {
  const { number, hash, traces } = block;
  if (bytes === undefined)
    throw new IncompleteReplica(
      `ClickHouse: chunk ${chunk} of block ${number} is not on the replica that responded`,
    );
  // Data chunks follow the chunks with traces, and contain no traces.
  const expected = Math.max(0, Math.min(TRACES_PER_CHUNK, traces - chunk * TRACES_PER_CHUNK));
  if (bytes.toString('hex', HASH_AT, HASH_END) !== hash.slice(2) || bytes[0] !== expected)
    throw new IncompleteReplica(`ClickHouse: chunk ${chunk} of block ${number} belongs to another block`);
}
