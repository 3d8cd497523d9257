import type { BucketWriter, EntryReader } from './run.ts';

/** Parts of an address that come from one run. They are at `start` to `end` in `bytes`. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

interface MergedEntry {
  readonly hash: number;
  readonly bytes: Uint8Array;
  readonly at: number;
  partBytes: number;
  readonly pieces: Piece[];
}

/** Collects the entries of several runs that belong to one bucket of the merged run. */
export class MergedEntries {
  readonly #entries: MergedEntry[] = [];

  /** Adds an entry of one of the runs. `left`, if given, replaces the parts of the entry. */
  add(hash: number, entry: EntryReader, left?: Uint8Array): void {
    const { bytes, at } = entry;
    const piece =
      left === undefined
        ? { bytes, start: entry.partsAt, end: entry.end }
        : { bytes: left, start: 0, end: left.length };
    const partBytes = piece.end - piece.start;
    // A linear search is fast enough, because a bucket has about forty entries.
    for (const known of this.#entries)
      if (known.hash === hash && entry.hasAddress(known.bytes, known.at)) {
        known.partBytes += partBytes;
        known.pieces.push(piece);
        return;
      }
    this.#entries.push({ hash, bytes, at, partBytes, pieces: [piece] });
  }

  writeTo(writer: BucketWriter): void {
    for (const { bytes, at, partBytes, pieces } of this.#entries) {
      writer.entry(bytes, at, partBytes);
      for (const piece of pieces) writer.parts(piece.bytes, piece.start, piece.end);
    }
  }
}
