import { doubled, KeyTable, positionOf, typeAt, visitTerms } from '../../../../traces/index.ts';
import { COLUMNS, columnOf, keptPosition, MAX_KEPT_POSITIONS, MAX_PART_BYTES, writeVarint } from './parts.ts';
import { ADDRESS_BYTES, type Entry } from './run.ts';

const INITIAL_ADDRESSES = 1024;

/** How often each address is on which side of which type of trace in a segment, and where, worked out from its chunks. */
export class AddressTally {
  readonly #addresses = new KeyTable(ADDRESS_BYTES);
  /** By address and column. */
  #counts = new Uint32Array(INITIAL_ADDRESSES * COLUMNS);
  /** By address and side, how often it is there, */
  #sums = new Uint32Array(INITIAL_ADDRESSES * 2);
  /** and the first positions. */
  #kept = new Uint32Array(INITIAL_ADDRESSES * 2 * MAX_KEPT_POSITIONS);

  /** Adds a chunk, whose first trace is number `firstIndex` of its block. They come in order. */
  add(chunk: Uint8Array, blockNumber: number, firstIndex: number): void {
    visitTerms(chunk, (side, at, index) => {
      if (side === 'transaction') return;
      const address = this.#addresses.findOrAdd(chunk, at);
      if (2 * address === this.#sums.length) this.#grow();
      const column = address * COLUMNS + columnOf(side, typeAt(chunk, index));
      this.#counts[column] = (this.#counts[column] ?? 0) + 1;
      const sum = 2 * address + (side === 'from' ? 0 : 1);
      const before = this.#sums[sum] ?? 0;
      this.#sums[sum] = before + 1;
      if (before < MAX_KEPT_POSITIONS)
        this.#kept[sum * MAX_KEPT_POSITIONS + before] = positionOf(blockNumber, firstIndex + index);
    });
  }

  /** An entry for each address, as a run that has this segment has it. */
  entries(segment: number): Entry[] {
    const part = new Uint8Array(MAX_PART_BYTES);
    return Array.from({ length: this.#addresses.length }, (_, address) => ({
      address: this.#addresses.keyOf(address),
      parts: [part.slice(0, this.#encode(part, segment, address))],
    }));
  }

  /** Writes the part of an address; returns its length. */
  #encode(part: Uint8Array, segment: number, address: number): number {
    const columnsAt = writeVarint(part, 0, segment);
    let at = columnsAt + 1;
    let columns = 0;
    for (let column = 0; column < COLUMNS; column++) {
      const count = this.#counts[address * COLUMNS + column] ?? 0;
      if (count === 0) continue;
      columns |= 1 << column;
      at = writeVarint(part, at, count);
    }
    part[columnsAt] = columns;
    for (let sum = 2 * address; sum < 2 * address + 2; sum++) {
      const count = this.#sums[sum] ?? 0;
      if (count > MAX_KEPT_POSITIONS) continue;
      for (let i = 0; i < count; i++)
        at = writeVarint(part, at, keptPosition(this.#kept[sum * MAX_KEPT_POSITIONS + i] ?? 0));
    }
    return at;
  }

  #grow(): void {
    this.#counts = doubled(this.#counts);
    this.#sums = doubled(this.#sums);
    this.#kept = doubled(this.#kept);
  }
}
