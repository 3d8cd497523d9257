import {
  BLOCKS_PER_SEGMENT,
  blockAt,
  positionOf,
  type Side,
  TRACE_TYPES,
  traceIndexAt,
} from '../../../../traces/index.ts';

/**
 * Layout of an address's data in a run: one part for each segment that contains the address.
 *
 *   part      segment, u8 columns, a count for each set column, then for each side with at most MAX_INLINE_POSITIONS
 *             traces their positions, ascending
 *   position  1,024 times the trace's index in its block, plus the block's offset in the segment
 *
 * Numbers are LEB128. A column is a pair of side and trace type. Columns show whether a segment can match a query.
 */

export const COLUMNS = 2 * TRACE_TYPES.length;
/**
 * Returns the column for a side (`from` or `to`) and a trace type. Columns of senders come before those of
 * recipients.
 */
export const columnOf = (side: 'from' | 'to', type: number): number =>
  side === 'from' ? type : TRACE_TYPES.length + type;

/**
 * If an address has at most this many traces on a side (`from` or `to`), the part contains their positions, so that
 * no posting list is read for them.
 */
export const MAX_INLINE_POSITIONS = 8;

export type PartSide = Exclude<Side, 'transaction'>;

export const MAX_PART_BYTES = 5 + 1 + COLUMNS * 5 + 2 * MAX_INLINE_POSITIONS * 5;

/** Writes a number as LEB128. Returns the offset after it. */
export function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
  bytes[at++] = rest;
  return at;
}

/** Reorders the bits of a position so that most need three bytes as LEB128 instead of five. */
export const encodePosition = (position: number): number =>
  traceIndexAt(position) * BLOCKS_PER_SEGMENT + blockAt(0, position);

const decodePosition = (kept: number): number =>
  positionOf(kept % BLOCKS_PER_SEGMENT, Math.floor(kept / BLOCKS_PER_SEGMENT));

/** Iterates over the parts of an address. The properties describe the current part, until the next call of `next`. */
export class PartReader {
  segment = 0;
  columns = 0;
  /** Number of traces in the current part, for each column. */
  readonly counts = new Float64Array(COLUMNS);
  /** Start and end of the current part, as offsets in the bytes that were passed to `open`. */
  start = 0;
  end = 0;
  readonly #sums: Record<PartSide, number> = { from: 0, to: 0 };
  readonly #kept = { from: new Uint32Array(MAX_INLINE_POSITIONS), to: new Uint32Array(MAX_INLINE_POSITIONS) };
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;

  /** Starts to read `parts`. The next call of `next` moves to the first of them. */
  open(parts: Uint8Array): this {
    this.#bytes = parts;
    this.#at = 0;
    return this;
  }

  /** Moves to the next part. Returns false at the end. */
  next(): boolean {
    this.start = this.#at;
    if (this.#at >= this.#bytes.length) return false;
    this.segment = this.#varint();
    this.columns = this.#bytes[this.#at++] ?? 0;
    const sums = this.#sums;
    sums.from = 0;
    sums.to = 0;
    for (let column = 0; column < COLUMNS; column++) {
      const count = (this.columns & (1 << column)) === 0 ? 0 : this.#varint();
      this.counts[column] = count;
      sums[column < COLUMNS / 2 ? 'from' : 'to'] += count;
    }
    for (const side of ['from', 'to'] as const)
      if (sums[side] <= MAX_INLINE_POSITIONS)
        for (let i = 0; i < sums[side]; i++) this.#kept[side][i] = decodePosition(this.#varint());
    this.end = this.#at;
    return true;
  }

  /** Returns the positions of the traces on a side, or undefined if only the posting list contains them. */
  positions(side: PartSide): Uint32Array | undefined {
    const count = this.#sums[side];
    return count > MAX_INLINE_POSITIONS ? undefined : this.#kept[side].slice(0, count);
  }

  #varint(): number {
    const bytes = this.#bytes;
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}
