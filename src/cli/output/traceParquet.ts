import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { Trace } from '../../ethereum/traces/index.ts';
import type { ExportedHeader } from '../../server/index.ts';
import { OperatorError } from '../operatorError.ts';
import { COLUMNS, HEADER_COLUMNS, rowOf, type TraceRow } from './traceRow.ts';

type Column = (typeof COLUMNS)[number];

/** Maximum size of a row group, which is in memory until it is written. Larger groups make smaller, faster files. */
const MAX_GROUP_BYTES = 32 * 1024 * 1024;
/** Estimated bytes of a row without its variable-length strings. */
const ROW_BYTES = 600;
/** Maximum `traceAddress` elements per row group. At 262,144 (1 MiB), the writer starts a page, even inside a row. */
const MAX_GROUP_PATH_NUMBERS = 200_000;
const MAX_INT64 = 2n ** 63n - 1n;

const column = (name: string, type: Partial<SchemaElement>): SchemaElement => ({
  name,
  repetition_type: 'OPTIONAL',
  ...type,
});
const REQUIRED = { repetition_type: 'REQUIRED' } as const;
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const INT32 = { type: 'INT32' } as const;
const INT64 = { type: 'INT64' } as const;

const SCHEMA: SchemaElement[] = [
  { name: 'traces', num_children: COLUMNS.length },
  column('blockNumber', { ...INT64, ...REQUIRED }),
  column('blockHash', { ...TEXT, ...REQUIRED }),
  column('transactionPosition', INT32),
  column('transactionHash', TEXT),
  column('traceAddress', { ...REQUIRED, converted_type: 'LIST', num_children: 1 }),
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  { name: 'element', ...INT32, ...REQUIRED },
  column('type', { ...TEXT, ...REQUIRED }),
  column('kind', TEXT),
  column('from', TEXT),
  column('to', TEXT),
  // Parquet integers have at most 64 bits. Decimal text is exact for 256-bit values.
  column('value', TEXT),
  column('gas', INT64),
  column('gasUsed', INT64),
  column('input', TEXT),
  column('output', TEXT),
  column('error', TEXT),
  column('subtraces', { ...INT32, ...REQUIRED }),
];

/** Encodes traces as a Parquet file, in pieces. At most one row group is in memory. */
export async function* parquetOf(pages: AsyncIterable<readonly Trace[]>): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({ writer: bytes, schema: SCHEMA });
  let group = new RowGroup();
  for await (const page of pages)
    for (const trace of page) {
      group.add(rowOf(trace));
      if (!group.isFull) continue;
      await group.writeTo(file);
      yield taken(bytes);
      group = new RowGroup();
    }
  await group.writeTo(file);
  await file.finish();
  yield taken(bytes);
}

const HEADER_SCHEMA: SchemaElement[] = [
  { name: 'headers', num_children: HEADER_COLUMNS.length },
  column('blockNumber', { ...INT64, ...REQUIRED }),
  column('blockHash', { ...TEXT, ...REQUIRED }),
  column('parentHash', { ...TEXT, ...REQUIRED }),
  column('timestamp', { ...INT64, ...REQUIRED }),
  column('traceCount', { ...INT32, ...REQUIRED }),
  column('unavailable', TEXT),
  column('chainId', { ...INT64, ...REQUIRED }),
  column('genesisHash', { ...TEXT, ...REQUIRED }),
];
const INT64_HEADER_COLUMNS: readonly string[] = ['blockNumber', 'timestamp', 'chainId'];

/** Encodes headers as a Parquet file, in pieces. Each page is a row group. */
export async function* headersParquetOf(
  pages: AsyncIterable<readonly ExportedHeader[]>,
): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const file = new ParquetWriter({ writer: bytes, schema: HEADER_SCHEMA });
  for await (const page of pages) {
    const columnData = HEADER_COLUMNS.map((name) => ({
      name,
      data: page.map(({ [name]: value }) =>
        INT64_HEADER_COLUMNS.includes(name) ? BigInt(value ?? 0) : value,
      ),
    }));
    await file.write({ columnData, rowGroupSize: page.length });
    yield taken(bytes);
  }
  await file.finish();
  yield taken(bytes);
}

function taken(bytes: ByteWriter): Uint8Array {
  const copy = new Uint8Array(bytes.getBuffer());
  bytes.index = 0;
  return copy;
}

class RowGroup {
  readonly #columns = new Map<Column, unknown[]>(COLUMNS.map((name) => [name, []]));
  #rows = 0;
  #bytes = 0;
  #pathNumbers = 0;

  add(row: TraceRow): void {
    for (const [name, values] of this.#columns) values.push(cellOf(row, name));
    this.#rows++;
    this.#bytes += ROW_BYTES + lengthOf(row.input) + lengthOf(row.output) + lengthOf(row.error);
    this.#pathNumbers += row.traceAddress.length;
  }

  get isFull(): boolean {
    return this.#bytes >= MAX_GROUP_BYTES || this.#pathNumbers >= MAX_GROUP_PATH_NUMBERS;
  }

  async writeTo(file: ParquetWriter): Promise<void> {
    if (this.#rows === 0) return;
    const columnData = [...this.#columns].map(([name, data]) => ({ name, data }));
    await file.write({ columnData, rowGroupSize: this.#rows });
  }
}

const lengthOf = (text: string | undefined): number => text?.length ?? 0;

const utf8 = new TextEncoder();

function cellOf(row: TraceRow, name: Column): unknown {
  switch (name) {
    case 'blockNumber':
      return BigInt(row.blockNumber);
    case 'value':
      return row.value === undefined ? undefined : BigInt(row.value).toString();
    case 'gas':
    case 'gasUsed':
      return row[name] === undefined ? undefined : gasOf(row, row[name]);
    case 'error':
      // Encoded to bytes, because the writer orders strings by UTF-16 and readers by UTF-8, which differs outside
      // ASCII.
      return row.error === undefined ? undefined : utf8.encode(row.error);
    default:
      return row[name] ?? undefined;
  }
}

function gasOf({ blockNumber, transactionPosition }: TraceRow, gas: string): bigint {
  const value = BigInt(gas);
  if (value > MAX_INT64)
    throw new OperatorError(
      `a trace of block ${blockNumber}, transaction ${transactionPosition}, has ${value} gas, above the maximum of a Parquet column ` +
        '(2^63 - 1): export the range as csv or ndjson',
    );
  return value;
}
