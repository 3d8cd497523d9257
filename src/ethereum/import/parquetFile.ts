import type { FileHandle } from 'node:fs/promises';
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ImportError, type Row } from './format.ts';
import type { Part, TableFile, TableRow } from './table.ts';

/** The package rejects an empty page that is compressed with LZ4, as Polars writes for columns without values. */
const COMPRESSORS: Compressors = Object.fromEntries(
  Object.entries(compressors).map(([codec, decompress]) => [
    codec,
    (input: Uint8Array, length: number) => (length === 0 ? new Uint8Array() : decompress(input, length)),
  ]),
);

/** A Parquet file. Positions are numbers of rows, from 0. */
export class ParquetFile implements TableFile {
  readonly path: string;
  readonly columns: readonly string[];
  readonly roundedColumns: readonly string[];
  readonly #handle: FileHandle;
  readonly #buffer: AsyncBuffer;
  readonly #metadata: FileMetaData;

  static async open(opened: { path: string; handle: FileHandle; size: number }): Promise<ParquetFile> {
    const { path, handle, size } = opened;
    const buffer: AsyncBuffer = {
      byteLength: size,
      async slice(start, end = size) {
        const bytes = new Uint8Array(Math.max(0, Math.min(end, size) - start));
        for (let read = 0; read < bytes.length; ) {
          const { bytesRead } = await handle.read(bytes, read, bytes.length - read, start + read);
          if (bytesRead === 0) throw new ImportError(`${path} was cut off while it was read`);
          read += bytesRead;
        }
        return bytes.buffer;
      },
    };
    try {
      return new ParquetFile(opened, { buffer, metadata: await parquetMetadataAsync(buffer) });
    } catch (error) {
      throw unreadable(path, error);
    }
  }

  private constructor(
    { path, handle }: { path: string; handle: FileHandle },
    { buffer, metadata }: { buffer: AsyncBuffer; metadata: FileMetaData },
  ) {
    this.path = path;
    this.#handle = handle;
    this.#buffer = buffer;
    this.#metadata = metadata;
    const { children } = parquetSchema(metadata);
    this.columns = children.map(({ element }) => element.name);
    checkColumns(metadata, children.flatMap(leavesOf));
    this.roundedColumns = metadata.schema.flatMap(({ type, name }) => (type === 'FLOAT' ? name : []));
  }

  async *rows({ from, to }: Pick<Part, 'from' | 'to'>): AsyncGenerator<TableRow> {
    const rows = await this.#read(from, to);
    for (let i = 0; i < rows.length; i++) yield { row: rows[i] ?? {}, at: from + i };
  }

  /** Splits the file into parts of about `partBytes` before compression, none with rows of two row groups. */
  async parts(
    partBytes: number,
    numberOf: (row: TableRow) => Promise<number>,
    numberColumn: string,
  ): Promise<Part[]> {
    const parts: Part[] = [];
    let from = 0;
    for (const group of this.#metadata.row_groups) {
      const [rows, end] = [Number(group.num_rows), from + Number(group.num_rows)];
      const numbers = await this.#read(from, end, [numberColumn]);
      if (numbers.length !== rows)
        throw unreadable(this.path, `a row group has ${numbers.length} of ${rows} rows`);
      const step = Math.max(
        1,
        Math.floor((rows * partBytes) / Math.max(partBytes, Number(group.total_byte_size))),
      );
      const start = from;
      const numberAt = (at: number): Promise<number> => numberOf({ row: numbers[at - start] ?? {}, at });
      for (; from < end; from += step) {
        const to = Math.min(end, from + step);
        parts.push({ path: this.path, from, to, first: await numberAt(from), last: await numberAt(to - 1) });
      }
      from = end;
    }
    return parts;
  }

  async positionOf(at: number): Promise<string> {
    return `row ${at + 1}`;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #read(rowStart: number, rowEnd: number, columns?: string[]): Promise<Row[]> {
    try {
      return await parquetReadObjects({
        file: this.#buffer,
        metadata: this.#metadata,
        compressors: COMPRESSORS,
        rowStart,
        rowEnd,
        utf8: false,
        ...(columns && { columns }),
      });
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }
}

/** Returns the paths of the columns that have values. */
const leavesOf = ({ children, path }: SchemaTree): string[] =>
  children.length === 0 ? [path.join('.')] : children.flatMap(leavesOf);

/** Throws if a row group has a column that is not in the schema: the package would not report errors of its pages. */
function checkColumns({ row_groups: groups }: FileMetaData, leaves: readonly string[]): void {
  for (const { columns } of groups) {
    const expected = new Set(leaves);
    for (const { meta_data: column } of columns) {
      const path = column?.path_in_schema.join('.') ?? '';
      if (!expected.delete(path)) throw new Error(`a row group has the column ${path}, unlike the schema`);
    }
  }
}

function unreadable(path: string, reason: unknown): ImportError {
  if (reason instanceof ImportError) return reason;
  return new ImportError(`${path} is damaged: ${reason instanceof Error ? reason.message : String(reason)}`);
}
