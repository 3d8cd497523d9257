import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option as Flag, InvalidArgumentError } from 'commander';
import type { Address, Trace } from '../../ethereum/traces/index.ts';
import type { ExportedHeader } from '../../server/index.ts';
import { readConfig } from '../configFlags.ts';
import { networkFlag } from '../networkFlag.ts';
import { OperatorError, UsageError } from '../operatorError.ts';
import { CSV_HEADER, csvRow } from '../output/traceCsv.ts';
import { HEADER_COLUMNS } from '../output/traceRow.ts';
import { addDataDirFlags } from './access/tokenStorage.ts';
import { readBlockNumber } from './indexBlocks.ts';

const FORMATS = ['ndjson', 'csv', 'parquet'] as const;

interface ExportFlags {
  readonly from: number;
  readonly to: number;
  readonly address?: Address;
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly network: string;
  readonly skipUnavailable?: boolean;
  readonly headers?: string;
}

/** `floodgate export`: exports traces of a block range of any length, even while a server runs. */
export function registerExport(program: Command): void {
  const command = program
    .command('export')
    .description('export the traces of a range of indexed blocks, of any length, even while the server runs')
    .requiredOption('--from <block>', 'first block', readBlockNumber)
    .requiredOption('--to <block>', 'last block', readBlockNumber)
    .addOption(networkFlag())
    .option('--address <address>', 'only traces from or to this address', readAddress)
    .addOption(
      new Flag('--format <format>', 'one JSON object per line, or a table as CSV or Apache Parquet')
        .choices(FORMATS)
        .default('ndjson'),
    )
    .option(
      '--skip-unavailable',
      'skip blocks that no node can trace, and list them on standard error; default: fail at such a block',
    )
    .option('--out <file>', 'output file; default: standard output')
    .addOption(
      new Flag(
        '--headers <file>',
        'also write the headers of the blocks to this file, which `floodgate import` needs',
      ).conflicts('address'),
    )
    .action(writeTraces);
  addDataDirFlags(command);
}

async function writeTraces(
  { from, to, address, format, out, network, skipUnavailable = false, headers }: ExportFlags,
  command: Command,
): Promise<void> {
  if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`);
  const { dataDir } = readConfig(command);
  const { exportHeaders, exportTraces, namedBlocks } = await import('../../server/index.ts');
  if (format === 'parquet' && out === undefined && process.stdout.isTTY)
    throw new UsageError('Parquet is a binary format and is not printed on a terminal: use --out FILE');
  const pages = exportTraces({
    dataDir,
    network,
    fromBlock: from,
    toBlock: to,
    address,
    skipUnavailable,
    skipped: (blocks) =>
      process.stderr.write(`floodgate: skipped, because no node can trace them: ${namedBlocks(blocks)}\n`),
  });
  // Read the first page before the file is created, because this fails if the range is not indexed.
  const first = await pages.next();
  const pieces = Readable.from(await piecesOf(allOf(first, pages), format));
  if (out === undefined) await pipeline(pieces, process.stdout, { end: false });
  else await writeFile(out, pieces);
  if (headers === undefined) return;
  const blocks = exportHeaders({ dataDir, network, fromBlock: from, toBlock: to });
  await writeFile(headers, Readable.from(await headerPiecesOf(blocks, format)));
}

async function writeFile(file: string, pieces: Readable): Promise<void> {
  try {
    await pipeline(pieces, createWriteStream(file));
  } catch (error) {
    // An error that occurs while the file is opened names it; a write error does not.
    const isWrite = error instanceof Error && 'syscall' in error && error.syscall === 'write';
    throw isWrite ? new OperatorError(`${file} is incomplete: ${error.message}`) : error;
  }
}

async function headerPiecesOf(
  pages: AsyncIterable<readonly ExportedHeader[]>,
  format: ExportFlags['format'],
): Promise<AsyncIterable<string | Uint8Array>> {
  if (format === 'ndjson') return linesOf(pages, (header) => `${JSON.stringify(header)}\n`);
  if (format === 'csv')
    return linesOf(
      pages,
      (header) => `${HEADER_COLUMNS.map((column) => header[column] ?? '').join(',')}\r\n`,
      `${HEADER_COLUMNS.join(',')}\r\n`,
    );
  const { headersParquetOf } = await import('../output/traceParquet.ts');
  return headersParquetOf(pages);
}

async function* allOf(
  first: IteratorResult<readonly Trace[]>,
  rest: AsyncGenerator<readonly Trace[]>,
): AsyncGenerator<readonly Trace[]> {
  if (!first.done) yield first.value;
  yield* rest;
}

async function piecesOf(
  pages: AsyncIterable<readonly Trace[]>,
  format: ExportFlags['format'],
): Promise<AsyncIterable<string | Uint8Array>> {
  if (format === 'ndjson') return linesOf(pages, (trace) => `${JSON.stringify(trace)}\n`);
  if (format === 'csv') return linesOf(pages, (trace) => `${csvRow(trace)}\r\n`, `${CSV_HEADER}\r\n`);
  const { parquetOf } = await import('../output/traceParquet.ts');
  return parquetOf(pages);
}

async function* linesOf<T>(
  pages: AsyncIterable<readonly T[]>,
  lineOf: (row: T) => string,
  header?: string,
): AsyncGenerator<string> {
  if (header !== undefined) yield header;
  for await (const page of pages) yield page.map(lineOf).join('');
}

function readAddress(value: string): Address {
  if (!/^0x[0-9a-f]{40}$/i.test(value)) throw new InvalidArgumentError('It must be 0x and 40 hex digits.');
  return value.toLowerCase() as Address; // checked above
}
