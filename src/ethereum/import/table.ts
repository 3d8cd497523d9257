import type { Row } from './format.ts';

export interface TableRow {
  readonly row: Row;
  /** Position of the row in its file. */
  readonly at: number;
}

/** A part of a file, from one position to another, with the numbers of its first and last block. */
export interface Part {
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly first: number;
  readonly last: number;
}

/** A file with rows in ascending order of their blocks. */
export interface TableFile {
  readonly path: string;
  readonly columns: readonly string[];
  /** Columns of floating-point numbers with 32 bits, whose whole numbers above 2^24 are rounded. */
  readonly roundedColumns: readonly string[];
  rows(part: Pick<Part, 'from' | 'to'>): AsyncGenerator<TableRow>;
  /** Splits the file into parts of about `partBytes`, so that several threads can read it in bounded memory. */
  parts(
    partBytes: number,
    numberOf: (row: TableRow) => Promise<number>,
    numberColumn: string,
  ): Promise<Part[]>;
  /** Returns the position of a row for messages. */
  positionOf(at: number): Promise<string>;
  close(): Promise<void>;
}
