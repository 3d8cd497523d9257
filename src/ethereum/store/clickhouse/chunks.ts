import { TRACES_PER_CHUNK } from '../../traces/index.ts';
import type { ClickHouse } from './clickHouse.ts';
import { IncompleteReplica } from './failures.ts';
import type { ChunkedBlock, Place } from './place.ts';
import type { Tables } from './tables.ts';

const HASH_AT = 2;
const HASH_END = 34;
/** Chunks of one query: their numbers stand in its address. */
const MAX_CHUNKS = 1_000;

/** Reads chunks of known blocks: each must come, once, and be of the block whose hash PostgreSQL has. */
export class ChunkReader {
  readonly #clickHouse: ClickHouse;
  readonly #tables: Tables;
  readonly #chain: number;

  constructor({ clickHouse, tables, chain }: { clickHouse: ClickHouse; tables: Tables; chain: number }) {
    this.#clickHouse = clickHouse;
    this.#tables = tables;
    this.#chain = chain;
  }

  /** Those that traces at some places stand in. */
  async at(
    places: readonly Place[],
    blockOf: (number: number) => ChunkedBlock | undefined,
    maxBytes: number,
  ): Promise<Chunks> {
    const wanted = new Map<string, Wanted>();
    for (const { number, traceIndex } of places) {
      const chunk = Math.floor(traceIndex / TRACES_PER_CHUNK);
      const block = blockOf(number);
      if (block === undefined) throw new IncompleteReplica(`ClickHouse: block ${number} is not of the range`);
      wanted.set(keyOf(number, chunk), { block, chunk });
    }
    return this.#read([...wanted.values()], maxBytes);
  }

  /** All of a block from one on. */
  ofBlock(block: ChunkedBlock, firstChunk: number, maxBytes: number): Promise<Chunks> {
    const count = Math.ceil(block.traces / TRACES_PER_CHUNK) - firstChunk;
    const wanted = Array.from({ length: Math.max(0, count) }, (_, i) => ({ block, chunk: firstChunk + i }));
    return this.#read(wanted, maxBytes);
  }

  async #read(wanted: readonly Wanted[], maxBytes: number): Promise<Chunks> {
    const chunks = new Chunks();
    for (let i = 0; i < wanted.length; i += MAX_CHUNKS)
      await this.#readSome(wanted.slice(i, i + MAX_CHUNKS), chunks, maxBytes);
    return chunks;
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

/** Chunks that were read. */
export class Chunks {
  readonly #chunks = new Map<string, Buffer>();

  set(number: number, chunk: number, bytes: Buffer): void {
    this.#chunks.set(keyOf(number, chunk), bytes);
  }

  get(number: number, chunk: number): Buffer | undefined {
    return this.#chunks.get(keyOf(number, chunk));
  }

  /** The chunk that trace `traceIndex` of a block stands in, which was read. */
  with({ number, traceIndex }: Place): Buffer {
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
      `ClickHouse: chunk ${chunk} of block ${number} is not on the machine that answered`,
    );
  const expected = Math.min(TRACES_PER_CHUNK, traces - chunk * TRACES_PER_CHUNK);
  if (bytes.toString('hex', HASH_AT, HASH_END) !== hash.slice(2) || bytes[0] !== expected)
    throw new IncompleteReplica(`ClickHouse: chunk ${chunk} of block ${number} is of another block`);
}
