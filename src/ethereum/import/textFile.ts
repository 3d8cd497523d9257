import type { FileHandle } from 'node:fs/promises';
import { ImportError, type Row } from './format.ts';
import type { Part, TableFile, TableRow } from './table.ts';

const READ_BYTES = 1024 * 1024;
/** Maximum bytes of a line: two times 16 MiB of data as hex digits, and the other members. */
const MAX_LINE_BYTES = 72 * 1024 * 1024;
/** Bytes that are read to find the last line. Doubled until a whole line is in them. */
const TAIL_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

interface Line {
  readonly text: string;
  /** Offset of the line in the file. */
  readonly at: number;
}

interface Opened {
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
}

/** A CSV (RFC 4180, without line breaks in cells) or NDJSON file. Positions are byte offsets of lines. */
export class TextFile implements TableFile {
  readonly path: string;
  readonly columns: readonly string[];
  readonly roundedColumns = [];
  readonly #file: Opened;
  readonly #isCsv: boolean;
  /** Offset of the first row. */
  readonly #start: number;

  static async open(file: Opened): Promise<TextFile> {
    for await (const { text, at } of linesOf(file, 0, file.size)) {
      const line = text.replace(/^\ufeff/, '');
      if (line.trim() === '') continue;
      if (line.startsWith('{')) {
        const start = at + Buffer.byteLength(text) - Buffer.byteLength(line);
        const whole = new TextFile(file, { columns: [], start });
        return new TextFile(file, { columns: Object.keys(await whole.#rowOf(line, start)), start });
      }
      const columns = csvCells(line);
      if (columns === undefined)
        throw new ImportError(
          `${file.path}: the first line has a quotation that is not closed; is the file cut off?`,
        );
      return new TextFile(file, { columns, start: at + Buffer.byteLength(text) + 1, isCsv: true });
    }
    return new TextFile(file, { columns: [], start: file.size });
  }

  private constructor(
    file: Opened,
    { columns, start, isCsv = false }: { columns: readonly string[]; start: number; isCsv?: boolean },
  ) {
    this.path = file.path;
    this.columns = columns;
    this.#file = file;
    this.#isCsv = isCsv;
    this.#start = start;
  }

  async *rows({ from, to }: Pick<Part, 'from' | 'to'>): AsyncGenerator<TableRow> {
    for await (const { text, at } of linesOf(this.#file, from, to)) {
      // The last line of CSV ends with CRLF, and the offset of the first row may be after a line feed only.
      if (text.trim() !== '') yield { row: await this.#rowOf(text, at), at };
    }
  }

  /** Splits the file at the first rows of blocks, into parts of about `partBytes`. */
  async parts(partBytes: number, numberOf: (row: TableRow) => Promise<number>): Promise<Part[]> {
    const parts: Part[] = [];
    const { size } = this.#file;
    for (let from = this.#start; from < size; ) {
      const bounds = { first: -1, last: -1, to: size };
      for await (const row of this.rows({ from, to: size })) {
        bounds.first = await numberOf(row);
        break;
      }
      if (bounds.first === -1) break; // only empty lines
      const target = from + partBytes;
      // The line at the target may be cut, so it is skipped.
      const begin = target < size ? await this.#endOfLine(target) : size;
      for await (const row of this.rows({ from: begin, to: size })) {
        const number = await numberOf(row);
        if (bounds.last !== -1 && number !== bounds.last) {
          bounds.to = row.at;
          break;
        }
        bounds.last = number;
      }
      if (bounds.last === -1) bounds.last = await numberOf(await this.#lastRow(from));
      parts.push({ path: this.path, from, ...bounds });
      from = bounds.to;
    }
    return parts;
  }

  /** Returns the number of the row at an offset, counted from 1. The header of CSV is not a row. */
  async positionOf(at: number): Promise<string> {
    let row = 1;
    for await (const { text } of linesOf(this.#file, this.#start, at)) if (text.trim() !== '') row++;
    return `row ${row}`;
  }

  async close(): Promise<void> {
    await this.#file.handle.close();
  }

  async #endOfLine(offset: number): Promise<number> {
    for await (const { text, at } of linesOf(this.#file, offset, this.#file.size))
      return at + Buffer.byteLength(text) + 1;
    return this.#file.size;
  }

  async #lastRow(from: number): Promise<TableRow> {
    const { size } = this.#file;
    for (let bytes = TAIL_BYTES; ; bytes *= 2) {
      const begin = Math.max(from, size - bytes);
      let last: TableRow | undefined;
      const start = begin === from ? from : await this.#endOfLine(begin);
      for await (const row of this.rows({ from: start, to: size })) last = row;
      if (last !== undefined) return last;
    }
  }

  async #rowOf(text: string, at: number): Promise<Row> {
    if (!this.#isCsv) {
      try {
        return jsonRow(text);
      } catch {
        throw await this.#malformed(at, 'must be a JSON object');
      }
    }
    const cells = csvCells(text);
    if (cells?.length !== this.columns.length)
      throw await this.#malformed(at, `must have ${this.columns.length} cells, as its first line has`);
    const row: Record<string, unknown> = Object.create(null);
    for (let i = 0; i < cells.length; i++) row[this.columns[i] ?? ''] = cells[i];
    return row;
  }

  async #malformed(at: number, expected: string): Promise<ImportError> {
    return new ImportError(`${this.path}, ${await this.positionOf(at)} ${expected}; is the file cut off?`);
  }
}

/** Yields the lines that start between two offsets, without their line breaks. */
async function* linesOf({ path, handle, size }: Opened, from: number, to: number): AsyncGenerator<Line> {
  let rest = Buffer.alloc(0);
  let at = from;
  for (let offset = from; offset < size && at < to; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, offset);
    if (bytesRead === 0) break;
    offset += bytesRead;
    rest =
      rest.length === 0
        ? buffer.subarray(0, bytesRead)
        : Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    let start = 0;
    for (let end = rest.indexOf(LINE_FEED); end !== -1 && at < to; end = rest.indexOf(LINE_FEED, start)) {
      yield { text: textBetween(rest, start, end), at };
      at += end + 1 - start;
      start = end + 1;
    }
    rest = rest.subarray(start);
    if (rest.length > MAX_LINE_BYTES)
      throw new ImportError(`${path}: the line at byte ${at} has more than ${MAX_LINE_BYTES} bytes`);
  }
  if (rest.length > 0 && at < to) yield { text: textBetween(rest, 0, rest.length), at };
}

const textBetween = (bytes: Buffer, start: number, end: number): string => bytes.toString('utf8', start, end);

function jsonRow(text: string): Row {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('not an object');
  return value as Row; // checked above
}

/** Returns the cells of a line of CSV; undefined if a quotation is not closed. */
function csvCells(line: string): string[] | undefined {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (!text.includes('"')) return text.split(',');
  const cells: string[] = [];
  for (let at = 0; ; ) {
    if (text[at] !== '"') {
      const end = text.indexOf(',', at);
      cells.push(end === -1 ? text.slice(at) : text.slice(at, end));
      if (end === -1) return cells;
      at = end + 1;
      continue;
    }
    let end = text.indexOf('"', at + 1);
    while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
    if (end === -1) return undefined;
    cells.push(text.slice(at + 1, end).replaceAll('""', '"'));
    if (end + 1 >= text.length) return cells;
    if (text[end + 1] !== ',') return undefined;
    at = end + 2;
  }
}
