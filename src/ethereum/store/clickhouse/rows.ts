import {
  actionValue,
  attributesOf,
  hasFailed,
  type IndexedBlock,
  kindIn,
  TRACES_PER_CHUNK,
  traceIndexAt,
  valueBitsIn,
} from '../../traces/index.ts';
import type { RowWriter } from './rowBinary.ts';

/** On which side of a trace an address is: bits, so that a trace from and to one address is one row. */
export const SIDE_BITS = { from: 1, to: 2, transaction: 4 } as const;

/** Of the attributes in ClickHouse, beside those of a chunk: a plain call whose action has a value, whether it moved or not. */
export const CARRIES_VALUE = 1 << 14;

const CALL = 0;

/** How many rows by address a block has. */
export function countPostings({ postings: { from, to, transaction } }: IndexedBlock): number {
  let both = 0;
  walkSides(from, to, () => both++);
  return from.terms.length + to.terms.length + transaction.terms.length - both;
}

export function writeChunks(rows: RowWriter, chain: number, { block, attempt }: Written): void {
  block.chunks.forEach((bytes, chunk) => {
    rows.uint32(chain);
    rows.uint32(block.block.number);
    rows.uint32(chunk);
    rows.uint16(attempt);
    rows.string(bytes);
  });
}

export function writePostings(rows: RowWriter, chain: number, { block, attempt }: Written): void {
  const { from, to, transaction } = block.postings;
  const { number, traceCount } = block.block;
  const attributes = attributesOf(block.chunks, traceCount);
  const onBothSides = new Set<number>();
  walkSides(from, to, (position) => onBothSides.add(position));
  const write = (term: string, traceIndex: number, sides: number): void => {
    const bits = sides === SIDE_BITS.transaction ? 0 : (attributes[traceIndex] ?? 0);
    const carried = needsValue(bits) && sides !== SIDE_BITS.transaction ? valueAt(block, traceIndex) : 0n;
    rows.uint32(chain);
    rows.fixedHex(term);
    rows.uint32(number);
    rows.uint32(traceIndex);
    rows.uint16(attempt);
    rows.uint8(sides);
    rows.uint16(bits | (carried > 0n && kindIn(bits) === CALL ? CARRIES_VALUE : 0));
    rows.uint256(hasFailed(bits) ? 0n : carried);
  };
  const writeSide = ({ terms, positions }: typeof from, sidesOf: (position: number) => number): void =>
    terms.forEach((term, i) => {
      const position = positions[i] ?? 0;
      const sides = sidesOf(position);
      if (sides > 0) write(term, traceIndexAt(position), sides);
    });
  writeSide(from, (position) => (onBothSides.has(position) ? SIDE_BITS.from | SIDE_BITS.to : SIDE_BITS.from));
  writeSide(to, (position) => (onBothSides.has(position) ? 0 : SIDE_BITS.to));
  writeSide(transaction, () => SIDE_BITS.transaction);
}

interface Written {
  readonly block: IndexedBlock;
  readonly attempt: number;
}

/** A failed call moves nothing, and may carry a value. */
const needsValue = (bits: number): boolean =>
  valueBitsIn(bits) > 0 || (hasFailed(bits) && kindIn(bits) === CALL);

function valueAt({ chunks }: IndexedBlock, traceIndex: number): bigint {
  const chunk = chunks[Math.floor(traceIndex / TRACES_PER_CHUNK)];
  return chunk === undefined ? 0n : actionValue(chunk, traceIndex % TRACES_PER_CHUNK);
}

/** The positions of traces that are from and to the same address; both lists ascend. */
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
