import { CellError } from './cells.ts';
import { type FileHeader, ImportError } from './format.ts';
import { blockNumberOf, rowError } from './prepareUnit.ts';
import type { Part, TableFile } from './table.ts';
import { openHeaders } from './tableFile.ts';

/** Size of the parts of header files: some thousand headers, so that reading from any block on is cheap. */
const PART_BYTES = 1024 * 1024;

/** The headers of consecutive blocks, in one or several files. */
export class HeaderFiles {
  readonly #parts: readonly Part[];
  #reading: AsyncGenerator<FileHeader> | undefined;
  /** Number of the next header that `#reading` yields. */
  #next = -1;
  readonly first: FileHeader;
  readonly last: FileHeader;

  /** Opens files in any order. Throws ImportError, also if two files contain the same block or one is missing. */
  static async open(paths: readonly string[]): Promise<HeaderFiles> {
    const parts = await partsOf(paths, openHeaders, PART_BYTES);
    const [first, last] = [parts[0], parts.at(-1)];
    if (first === undefined || last === undefined) throw new ImportError('the files of headers are empty');
    let lowest: FileHeader | undefined;
    for await (const header of headersIn([first])) {
      lowest = header;
      break;
    }
    let highest: FileHeader | undefined;
    for await (const header of headersIn([last])) highest = header;
    if (lowest === undefined || highest === undefined) throw new ImportError(`${last.path} has no headers`);
    return new HeaderFiles(parts, lowest, highest);
  }

  private constructor(parts: readonly Part[], first: FileHeader, last: FileHeader) {
    this.#parts = parts;
    this.first = first;
    this.last = last;
  }

  /** Returns the headers of a range of blocks. Fast if the range follows the previous one. Throws ImportError. */
  async between(from: number, to: number): Promise<FileHeader[]> {
    if (this.#next !== from) {
      await this.close();
      this.#reading = headersIn(this.#parts.filter(({ last }) => last >= from));
      this.#next = from;
    }
    const headers: FileHeader[] = [];
    while (this.#next <= to) {
      const header: FileHeader | undefined = (await this.#reading?.next())?.value;
      if (header === undefined) break;
      if (header.number < from) continue;
      headers.push(header);
      this.#next = header.number + 1;
    }
    return headers;
  }

  async close(): Promise<void> {
    await this.#reading?.return(undefined);
    this.#reading = undefined;
    this.#next = -1;
  }
}

/** Yields the headers of parts. Each must be the child of the one before. */
async function* headersIn(parts: readonly Part[]): AsyncGenerator<FileHeader, undefined> {
  let parent: FileHeader | undefined;
  for (const part of parts) {
    const { file, format } = await openHeaders(part.path);
    try {
      for await (const { row, at } of file.rows(part)) {
        const header = await read(file, at, () => format?.headerOf(row));
        if (header === undefined) continue;
        const problem = parent && problemOf(header, parent);
        if (problem !== undefined) throw await rowError(file, at, problem);
        parent = header;
        yield header;
      }
    } finally {
      await file.close();
    }
  }
  return undefined;
}

function problemOf(header: FileHeader, parent: FileHeader): string | undefined {
  const { number, parentHash, chainId, genesisHash } = header;
  if (number !== parent.number + 1)
    return `block ${number} follows block ${parent.number}; headers must be consecutive and ascending`;
  if (parentHash !== parent.hash)
    return `block ${number} has parent ${parentHash}, but block ${parent.number} is ${parent.hash}`;
  if (chainId !== parent.chainId || genesisHash !== parent.genesisHash)
    return `block ${number} is of another chain than block ${parent.number}`;
  return undefined;
}

async function read<T>(file: TableFile, at: number, readRow: () => T): Promise<T> {
  try {
    return readRow();
  } catch (error) {
    throw error instanceof CellError ? await rowError(file, at, error.message) : error;
  }
}

/** Returns the parts of all files in ascending order of their blocks. Throws ImportError if two files overlap. */
export async function partsOf(
  paths: readonly string[],
  openFile: (path: string) => Promise<{ file: TableFile; format: { numberColumn: string } | undefined }>,
  partBytes: number,
): Promise<Part[]> {
  const files: Part[][] = [];
  for (const path of paths) {
    const { file, format } = await openFile(path);
    try {
      if (format === undefined) continue;
      const { numberColumn } = format;
      const parts = await file.parts(
        partBytes,
        (row) => blockNumberOf(file, numberColumn, row),
        numberColumn,
      );
      if (parts.length > 0) files.push(parts);
    } finally {
      await file.close();
    }
  }
  const parts = files.sort(([a], [b]) => (a?.first ?? 0) - (b?.first ?? 0)).flat();
  for (const [i, part] of parts.entries()) {
    const before = parts[i - 1];
    if (part.last < part.first || (before !== undefined && part.first < before.last))
      throw new ImportError(
        `${part.path}: blocks ${part.first} to ${part.last} follow block ${before?.last ?? part.first}` +
          `${before !== undefined && before.path !== part.path ? ` of ${before.path}` : ''}; rows must be in ascending order of their blocks`,
      );
  }
  return parts;
}
