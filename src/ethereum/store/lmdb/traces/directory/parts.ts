import {
  BLOCKS_PER_SEGMENT,
  blockAt,
  positionOf,
  type Side,
  TRACE_TYPES,
  traceIndexAt,
} from '../../../../traces/index.ts';

/**
 * What a run has of one address: a part for each segment that has it.
 *
 *   part      segment, u8 columns, a count for each column that is set, and for each side with MAX_KEPT_POSITIONS traces or
 *             fewer their positions, ascending
 *   position  1,024 times the trace's index in its block, and the block's offset in the segment
 *
 * Numbers are LEB128. Columns are a side and a type of trace: which part of what is asked for a segment can have.
 */

/** Of each side, the types of traces. */
export const COLUMNS = 2 * TRACE_TYPES.length;
/** Columns of senders, then of recipients. */
export const columnOf = (side: 'from' | 'to', type: number): number =>
  side === 'from' ? type : TRACE_TYPES.length + type;
export const SIDE_COLUMNS = { from: 0x0f, to: 0xf0, either: 0xff } as const;

/** Of a side that has no more, the positions stand here too: for those no posting list has to be read. */
export const MAX_KEPT_POSITIONS = 8;

export type PartSide = Exclude<Side, 'transaction'>;

/** The most bytes that a part may have. */
export const MAX_PART_BYTES = 5 + 1 + COLUMNS * 5 + 2 * MAX_KEPT_POSITIONS * 5;

/** Writes a number as LEB128; returns where it ends. */
export function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes[at++] = (rest % 0x80) | 0x80;
  bytes[at++] = rest;
  return at;
}

/** A position as it is kept: most have three bytes so, and five as they are. */
export const keptPosition = (position: number): number =>
  traceIndexAt(position) * BLOCKS_PER_SEGMENT + blockAt(0, position);

const positionKept = (kept: number): number =>
  positionOf(kept % BLOCKS_PER_SEGMENT, Math.floor(kept / BLOCKS_PER_SEGMENT));

/** Goes over the parts of an address. What it tells is good until it is moved. */
export class PartReader {
  segment = 0;
  columns = 0;
  /** By column. */
  readonly counts = new Float64Array(COLUMNS);
  /** Where the part begins and ends. */
  start = 0;
  end = 0;
  readonly #sums: Record<PartSide, number> = { from: 0, to: 0 };
  readonly #kept = { from: new Uint32Array(MAX_KEPT_POSITIONS), to: new Uint32Array(MAX_KEPT_POSITIONS) };
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;

  /** To be moved before the first part. */
  open(parts: Uint8Array): this {
    this.#bytes = parts;
    this.#at = 0;
    return this;
  }

  /** Moves to the next part; false at the end. */
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
      if (sums[side] <= MAX_KEPT_POSITIONS)
        for (let i = 0; i < sums[side]; i++) this.#kept[side][i] = positionKept(this.#varint());
    this.end = this.#at;
    return true;
  }

  /** The positions on a side; undefined where they stand in its posting list alone. */
  positions(side: PartSide): Uint32Array | undefined {
    const count = this.#sums[side];
    return count > MAX_KEPT_POSITIONS ? undefined : this.#kept[side].slice(0, count);
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
