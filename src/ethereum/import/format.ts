import type { Hash, TraceFailure } from '../traces/index.ts';

/** A row of a file: its cells by column. An absent cell is undefined, null or, in CSV, an empty string. */
export type Row = Readonly<Record<string, unknown>>;

/** Maximum number of transactions in a block, which bounds the memory for one. No chain has as many. */
export const MAX_TRANSACTIONS = 1_000_000;

/** A block header as files have it. Columns that only some formats have are optional. */
export interface FileHeader {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly chainId?: number | undefined;
  readonly genesisHash?: Hash | undefined;
  readonly traceCount?: number | undefined;
  readonly transactionCount?: number | undefined;
  readonly miner?: string | undefined;
  readonly difficulty?: bigint | undefined;
  readonly gasUsed?: bigint | undefined;
  readonly unavailable?: TraceFailure | undefined;
}

interface FileFormat {
  /** Name of the format in messages. */
  readonly name: string;
  /** Columns by which a file of this format is recognised. */
  readonly marks: readonly string[];
  /** Columns that the import reads and that every file must have. */
  readonly columns: readonly string[];
  /** Column with the number of the block. */
  readonly numberColumn: string;
}

/** A file format for traces. */
export interface TraceFormat extends FileFormat {
  /** Whether the traces are in canonical form, because Floodgate exported them. */
  readonly isCanonical: boolean;
  /** Returns a trace in the form of `trace_block`, not validated yet; undefined if the row is not a trace. */
  readonly traceOf: (row: Row, header: FileHeader) => object | undefined;
  /** Columns by member of a trace, for example `action.gas`. Default: the member itself. */
  readonly columnOf: Readonly<Record<string, string>>;
}

/** A file format for block headers. */
export interface HeaderFormat extends FileFormat {
  readonly headerOf: (row: Row) => FileHeader;
}

/** Thrown if files cannot be imported. The message names the file and, if possible, row, column and value. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
}
