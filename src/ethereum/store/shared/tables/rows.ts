import { randomBytes } from 'node:crypto';
import {
  actionValueSpan,
  attributesOf,
  hasFailed,
  type IndexedBlock,
  kindIn,
  TRACES_PER_CHUNK,
  traceIndexAt,
  valueBitsIn,
} from '../../../traces/index.ts';
import { nativeRows, type Rows, strings } from '../connection/native.ts';
import { RowReader } from '../connection/rowBinary.ts';
import { type BlockRow, EXACTNESS } from './blockRow.ts';
import { chunkChecksum, digestOf } from './checksums.ts';

/**
 * Flags of a row in `trace_parties`: where the term occurs in the trace. If sender and recipient are the same address,
 * the trace has one row for both, with two flags.
 */
export const SIDE_BITS = { from: 1, to: 2, transaction: 4 } as const;

/**
 * Trace attribute that exists only in ClickHouse: the trace is a plain call with a value, even if the call failed.
 */
export const CARRIES_VALUE = 1 << 14;

const CALL = 0;
const ADDRESS_BYTES = 20;
const HEX_PREFIX_CHARS = 2;
const VALUE_BYTES = 32;

/** A block and its row in `trace_blocks`. Its chunks and parties contain the random `write` of that row. */
export interface BlockWrite {
  readonly block: IndexedBlock;
  readonly row: BlockRow;
}

/** Returns a block as a new write, with a random number that no other write has. */
export const writeOf = (block: IndexedBlock, version = 0): BlockWrite => ({
  block,
  row: {
    ...{ ...block.block, version, exactness: exactnessOf(block), write: newWrite() },
    ...{ chunks: block.chunks.length, parties: countParties(block), digest: digestOf(block.chunks) },
  },
});

export const newWrite = (): bigint => randomBytes(8).readBigUInt64LE();

export const exactnessOf = ({ block, lacksFrames }: IndexedBlock): number =>
  block.unavailable !== undefined
    ? EXACTNESS.unavailable
    : lacksFrames === true
      ? EXACTNESS.lacksFrames
      : EXACTNESS.complete;

/** Returns the number of rows that a block has in the table `trace_parties`. */
function countParties({ postings: { from, to, transaction } }: IndexedBlock): number {
  let both = 0;
  walkSides(from, to, () => both++);
  return from.terms.length + to.terms.length + transaction.terms.length - both;
}

/** Encodes the chunks of blocks as rows of `trace_chunks`. */
export function chunkRows(chain: bigint, written: readonly BlockWrite[]): Rows {
  const chunks = written.flatMap(({ block }) => block.chunks);
  const count = chunks.length;
  const [numbers, places] = [new Uint32Array(count), new Uint32Array(count)];
  const [writes, checksums] = [new BigUint64Array(count), new BigUint64Array(count)];
  let row = 0;
  for (const { block, row: blockRow } of written)
    block.chunks.forEach((bytes, chunk) => {
      const { number, write } = blockRow;
      numbers[row] = number;
      places[row] = chunk;
      writes[row] = write;
      checksums[row++] = chunkChecksum({ chain, number, chunk, write }, bytes);
    });
  return nativeRows(count, [
    ['chain', 'UInt64', new BigUint64Array(count).fill(chain)],
    ['number', 'UInt32', numbers],
    ['write', 'UInt64', writes],
    ['chunk', 'UInt32', places],
    ['checksum', 'UInt64', checksums],
    ['bytes', 'String', strings(chunks)],
  ]);
}

/** Encodes the addresses and transactions of blocks as rows of `trace_parties`. */
export function partyRows(chain: bigint, written: readonly BlockWrite[]): Rows {
  const rows = new PartyRows(written.reduce((sum, { row }) => sum + row.parties, 0));
  for (const block of written) rows.addBlock(block);
  return rows.native(chain);
}

/** Size of a row of `partyTuples`: address, trace index, sides, attributes and value. */
export const PARTY_BYTES = ADDRESS_BYTES + 7 + VALUE_BYTES;

/** Returns the rows of a block in `trace_parties`, without the columns that are equal in all of them. */
export function partyTuples(block: BlockWrite): Buffer[] {
  const rows = new PartyRows(block.row.parties);
  rows.addBlock(block);
  return rows.tuples();
}

/** A row of `trace_parties`. */
export interface Party {
  /** 20 bytes as hex digits. */
  readonly address: string;
  readonly sides: number;
  readonly attributes: number;
  readonly value: bigint;
}

/** Returns the rows of a block in `trace_parties`. */
export const partiesOf = (block: BlockWrite): Party[] =>
  partyTuples(block).map((tuple) => {
    const row = new RowReader(tuple);
    const address = row.fixed(ADDRESS_BYTES).toString('hex');
    row.uint32(); // the trace index
    return { address, sides: row.uint8(), attributes: row.uint16(), value: row.uint256() };
  });

class PartyRows {
  readonly #count: number;
  readonly #addresses: Buffer;
  readonly #numbers: Uint32Array;
  readonly #traceIndexes: Uint32Array;
  readonly #writes: BigUint64Array;
  readonly #sides: Uint8Array;
  readonly #attributes: Uint16Array;
  readonly #values: Uint8Array;
  #row = 0;

  constructor(count: number) {
    this.#count = count;
    this.#addresses = Buffer.alloc(count * ADDRESS_BYTES);
    this.#numbers = new Uint32Array(count);
    this.#traceIndexes = new Uint32Array(count);
    this.#writes = new BigUint64Array(count);
    this.#sides = new Uint8Array(count);
    this.#attributes = new Uint16Array(count);
    this.#values = new Uint8Array(count * VALUE_BYTES);
  }

  addBlock({ block, row: { number, write, parties, traceCount } }: BlockWrite): void {
    const { from, to, transaction } = block.postings;
    const [first, end] = [this.#row, this.#row + parties];
    this.#numbers.fill(number, first, end);
    this.#writes.fill(write, first, end);
    const attributes = attributesOf(block.chunks, traceCount);
    const onBothSides = new Set<number>();
    walkSides(from, to, (position) => onBothSides.add(position));
    // Hex digits of all terms of the block. They are decoded in one call.
    let digits = '';
    const add = ({ terms, positions }: typeof from, sidesOf: (position: number) => number): void =>
      terms.forEach((term, i) => {
        const position = positions[i] ?? 0;
        const sides = sidesOf(position);
        if (sides === 0) return;
        digits += term.slice(HEX_PREFIX_CHARS);
        const traceIndex = traceIndexAt(position);
        this.#add(block.chunks, { traceIndex, sides, bits: attributes[traceIndex] ?? 0 });
      });
    add(from, (position) => (onBothSides.has(position) ? SIDE_BITS.from | SIDE_BITS.to : SIDE_BITS.from));
    add(to, (position) => (onBothSides.has(position) ? 0 : SIDE_BITS.to));
    add(transaction, () => SIDE_BITS.transaction);
    this.#addresses.write(digits, first * ADDRESS_BYTES, 'hex');
  }

  native(chain: bigint): Rows {
    return nativeRows(this.#count, [
      ['chain', 'UInt64', new BigUint64Array(this.#count).fill(chain)],
      ['address', `FixedString(${ADDRESS_BYTES})`, this.#addresses],
      ['number', 'UInt32', this.#numbers],
      ['trace_index', 'UInt32', this.#traceIndexes],
      ['write', 'UInt64', this.#writes],
      ['sides', 'UInt8', this.#sides],
      ['attributes', 'UInt16', this.#attributes],
      ['value', 'UInt256', this.#values],
    ]);
  }

  tuples(): Buffer[] {
    return Array.from({ length: this.#count }, (_, row) => {
      const tuple = Buffer.alloc(PARTY_BYTES);
      tuple.set(this.#addresses.subarray(row * ADDRESS_BYTES, (row + 1) * ADDRESS_BYTES));
      tuple.writeUInt32LE(this.#traceIndexes[row] ?? 0, ADDRESS_BYTES);
      tuple.writeUInt8(this.#sides[row] ?? 0, ADDRESS_BYTES + 4);
      tuple.writeUInt16LE(this.#attributes[row] ?? 0, ADDRESS_BYTES + 5);
      tuple.set(this.#values.subarray(row * VALUE_BYTES, (row + 1) * VALUE_BYTES), ADDRESS_BYTES + 7);
      return tuple;
    });
  }

  #add(
    chunks: readonly Uint8Array[],
    {
      traceIndex,
      sides,
      bits,
    }: { readonly traceIndex: number; readonly sides: number; readonly bits: number },
  ): void {
    const row = this.#row++;
    this.#traceIndexes[row] = traceIndex;
    this.#sides[row] = sides;
    if (sides === SIDE_BITS.transaction) return;
    const chunk = needsValue(bits) ? chunks[Math.floor(traceIndex / TRACES_PER_CHUNK)] : undefined;
    const span = chunk && actionValueSpan(chunk, traceIndex % TRACES_PER_CHUNK);
    const carries = span !== undefined && span.end > span.start;
    this.#attributes[row] = bits | (carries && kindIn(bits) === CALL ? CARRIES_VALUE : 0);
    // The value is stored only if it was transferred.
    if (chunk === undefined || !carries || hasFailed(bits)) return;
    for (let from = span.end - 1, to = row * VALUE_BYTES; from >= span.start; )
      this.#values[to++] = chunk[from--] ?? 0;
  }
}

/** Whether a row depends on the value of its trace. A failed call transfers no value, but can have one. */
const needsValue = (bits: number): boolean =>
  valueBitsIn(bits) > 0 || (hasFailed(bits) && kindIn(bits) === CALL);

/**
 * Calls `found` with the position of each trace whose sender and recipient are the same. Both lists must be
 * ascending.
 */
function walkSides(
  from: IndexedBlock['postings']['from'],
  to: IndexedBlock['postings']['to'],
  found: (position: number) => void,
): void {
  for (let i = 0, j = 0; i < from.positions.length && j < to.positions.length; ) {
    const [a = 0, b = 0] = [from.positions[i], to.positions[j]];
    if (a === b && from.terms[i] === to.terms[j]) found(a);
    if (a <= b) i++;
    if (b <= a) j++;
  }
}
