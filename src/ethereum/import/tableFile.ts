import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { requireRegular } from '../../platform/regularFile/index.ts';
import { printable } from './cells.ts';
import { CRYO_HEADERS, CRYO_TRACES } from './cryo.ts';
import { ETL_HEADERS, ETL_TRACES } from './ethereumEtl.ts';
import { FLOODGATE_HEADERS, FLOODGATE_JSON, FLOODGATE_TABLE } from './floodgate.ts';
import { type HeaderFormat, ImportError, type TraceFormat } from './format.ts';
import { ParquetFile } from './parquetFile.ts';
import type { TableFile } from './table.ts';
import { TextFile } from './textFile.ts';

export interface OpenTable<Format> {
  readonly file: TableFile;
  /** Undefined if the file is empty. */
  readonly format: Format | undefined;
}

const TRACE_FORMATS: readonly TraceFormat[] = [FLOODGATE_JSON, FLOODGATE_TABLE, CRYO_TRACES, ETL_TRACES];
const HEADER_FORMATS: readonly HeaderFormat[] = [FLOODGATE_HEADERS, CRYO_HEADERS, ETL_HEADERS];

const PARQUET_MAGIC = 'PAR1';

export const openTraces = (path: string): Promise<OpenTable<TraceFormat>> => openAs(path, TRACE_FORMATS);
export const openHeaders = (path: string): Promise<OpenTable<HeaderFormat>> => openAs(path, HEADER_FORMATS);

/** Opens a file and detects its format by its columns. Throws ImportError. */
async function openAs<Format extends TraceFormat | HeaderFormat>(
  path: string,
  formats: readonly Format[],
): Promise<OpenTable<Format>> {
  const file = await openTable(path);
  try {
    return { file, format: file.columns.length === 0 ? undefined : formatOf(file, formats) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openTable(path: string): Promise<TableFile> {
  // The flag prevents that a named pipe is waited for.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    requireRegular(path, stats);
    const { buffer } = await handle.read(Buffer.alloc(PARQUET_MAGIC.length), 0, PARQUET_MAGIC.length, 0);
    const opened = { path, handle, size: stats.size };
    return await (buffer.toString('latin1') === PARQUET_MAGIC
      ? ParquetFile.open(opened)
      : TextFile.open(opened));
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function formatOf<Format extends TraceFormat | HeaderFormat>(
  { path, columns, roundedColumns }: TableFile,
  formats: readonly Format[],
): Format {
  const format = formats.find(({ marks }) => marks.every((column) => columns.includes(column)));
  if (format === undefined)
    throw new ImportError(
      `${path} has the columns ${printable(columns.slice(0, 10).join(', ').slice(0, 200))}; known formats, as Parquet or ` +
        'as text in UTF-8 without compression: ' +
        formats.map(({ name, marks }) => `${name} (${marks.join(', ')})`).join('; '),
    );
  const rounded = roundedColumns.filter((column) => [...format.marks, ...format.columns].includes(column));
  if (rounded.length > 0)
    throw new ImportError(
      `${path}: ${rounded.join(', ')} must be text or integers: floats of 32 bits are rounded`,
    );
  const missing = format.columns.filter((column) => !columns.includes(column));
  if (missing.length === 0) return format;
  throw new ImportError(`${path}: ${format.name} must have the columns ${missing.join(', ')}`);
}
