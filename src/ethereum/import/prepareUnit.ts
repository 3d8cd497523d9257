import {
  BlockMismatchError,
  type ChainRules,
  chainRulesOf,
  TraceFormatError,
} from '../traces/convert/index.ts';
import {
  type IndexedBlock,
  indexBlock,
  indexUnavailable,
  MAX_TRACES_PER_BLOCK,
  type Trace,
} from '../traces/index.ts';
import { CellError, numberOf } from './cells.ts';
import { checkExported, convertForeign } from './checkBlock.ts';
import { type FileHeader, ImportError, type TraceFormat } from './format.ts';
import type { Part, TableFile, TableRow } from './table.ts';
import { openTraces } from './tableFile.ts';

/** Blocks that are read together: their headers, and the parts of files with their traces. */
export interface Unit {
  readonly headers: readonly FileHeader[];
  readonly parts: readonly Part[];
  readonly chainId: number;
}

export interface PreparedBlock {
  readonly number: number;
  /** Undefined if the files are incomplete. */
  readonly indexed?: IndexedBlock;
  /** The missing data, as text. The block must then be fetched from a node. */
  readonly lacks?: string;
  /** Number of transactions with traces, if the header does not contain their number. */
  readonly uncounted?: number;
}

interface Source {
  readonly file: TableFile;
  readonly format: TraceFormat;
}

/** Reads the traces of blocks, checks them as ingest checks those of a node, and prepares them for the index. */
export async function prepareUnit({ headers, parts, chainId }: Unit): Promise<PreparedBlock[]> {
  const rules = chainRulesOf(chainId);
  const prepared: PreparedBlock[] = [];
  const waiting = headers.values();
  let rows: TableRow[] = [];
  let source: Source | undefined;
  let header = waiting.next().value;
  /** Prepares all blocks before block `number`. The collected rows are those of the first one. */
  const finishBefore = async (number: number): Promise<void> => {
    for (; header !== undefined && header.number < number; header = waiting.next().value) {
      prepared.push(await preparedBlock(header, { rows, source, rules }));
      rows = [];
    }
  };
  const [first, last] = [headers[0]?.number ?? 0, headers.at(-1)?.number ?? -1];
  for (const part of parts) {
    const { file, format } = await openTraces(part.path);
    try {
      if (format === undefined) continue;
      if (source !== undefined && source.format !== format && rows.length > 0)
        throw new ImportError(`${file.path} continues a block of another file in another format`);
      source = { file, format };
      for await (const row of file.rows(part)) {
        const number = await blockNumberOf(file, format.numberColumn, row);
        if (number < first) continue;
        if (number > last) break;
        if (number !== header?.number) await finishBefore(number);
        if (number !== header?.number)
          throw await rowError(file, row.at, `block ${number} is before another block, or has no header`);
        if (rows.length >= MAX_TRACES_PER_BLOCK)
          throw await rowError(file, row.at, `block ${number} has more than ${MAX_TRACES_PER_BLOCK} traces`);
        rows.push(row);
      }
      // The file is needed for messages about a block that continues in the next part.
      if (part === parts.at(-1)) await finishBefore(Number.POSITIVE_INFINITY);
    } finally {
      await file.close();
    }
  }
  await finishBefore(Number.POSITIVE_INFINITY);
  return prepared;
}

/** Returns the number of a row's block. */
export async function blockNumberOf(file: TableFile, column: string, { row, at }: TableRow): Promise<number> {
  try {
    return numberOf(row, column);
  } catch (error) {
    throw error instanceof CellError ? await rowError(file, at, error.message) : error;
  }
}

export async function rowError(file: TableFile, at: number, problem: string): Promise<ImportError> {
  return new ImportError(`${file.path}, ${await file.positionOf(at)}: ${problem}`);
}

interface RowsOfBlock {
  readonly rows: readonly TableRow[];
  readonly source: Source | undefined;
  readonly rules: ChainRules;
}

async function preparedBlock(header: FileHeader, block: RowsOfBlock): Promise<PreparedBlock> {
  const { number, hash, parentHash, timestamp, unavailable } = header;
  const place = { number, hash, parentHash, timestamp, transactionHashes: [] };
  if (unavailable !== undefined && block.rows.length === 0)
    return {
      number,
      indexed: indexUnavailable(place, unavailable),
      lacks: 'traces that a node could return',
    };
  const traces = await tracesOf(header, block);
  if (typeof traces === 'string') return { number, lacks: traces };
  const indexed = indexBlock(place, traces);
  if (header.traceCount !== undefined || header.transactionCount !== undefined) return { number, indexed };
  const uncounted = new Set(traces.flatMap((trace) => trace.transactionHash ?? [])).size;
  return uncounted === 0 && header.gasUsed === 0n ? { number, indexed } : { number, indexed, uncounted };
}

/** Returns the traces of a block, or the missing data as text. */
async function tracesOf(
  header: FileHeader,
  { rows, source, rules }: RowsOfBlock,
): Promise<readonly Trace[] | string> {
  let at = rows[0]?.at;
  const read: { row: TableRow; trace: object }[] = [];
  try {
    for (const row of rows) {
      at = row.at;
      const trace = source?.format.traceOf(row.row, header);
      if (trace !== undefined) read.push({ row, trace });
    }
    if (source?.format.isCanonical || (source === undefined && header.traceCount !== undefined))
      return checkExported(
        header,
        read.map(({ trace }) => trace),
        rules,
      );
    read.sort((a, b) => compareTraces(a.trace, b.trace));
    const list = read.map(({ trace }) => trace);
    if (list.some((trace) => (trace as { type?: unknown }).type === 'create'))
      return 'the method of a creation';
    const traces = convertForeign(header, list, rules);
    if (traces.some((trace) => trace.type === 'call' && trace.error === 'Reverted' && trace.result === null))
      return 'the result of a reverted call';
    return traces;
  } catch (error) {
    if (error instanceof TraceFormatError && error.index >= 0) at = read[error.index]?.row.at ?? at;
    throw await messageOf(error, { source, header, at });
  }
}

async function messageOf(
  error: unknown,
  { source, header, at }: { source: Source | undefined; header: FileHeader; at: number | undefined },
): Promise<unknown> {
  if (error instanceof BlockMismatchError) {
    if (source === undefined || at === undefined) {
      const file = source === undefined ? '' : `${source.file.path}: `;
      return new ImportError(`${file}${error.message}; there are no rows of this block`);
    }
    const hint = source.format.isCanonical ? '' : '. Files must contain all traces, failed ones too';
    return rowError(source.file, at, `${error.message}${hint}`);
  }
  if (source === undefined || at === undefined) return error;
  if (error instanceof CellError)
    return rowError(source.file, at, `block ${header.number}: ${error.message}`);
  if (!(error instanceof TraceFormatError)) return error;
  const { member, problem } = error;
  const column = source.format.columnOf[member] ?? member;
  const text = `block ${header.number}: ${column} must be ${problem.expected}, it is ${problem.got}`;
  return rowError(source.file, at, text);
}

interface Placed {
  readonly type?: unknown;
  readonly transactionPosition?: unknown;
  readonly traceAddress?: readonly unknown[];
  readonly action?: { readonly rewardType?: unknown };
}

/** Compares traces in the order in which the index stores them: programs sort rows by other columns. */
function compareTraces(one: object, other: object): number {
  const [a, b]: [Placed, Placed] = [one, other];
  const order = rankOf(a) - rankOf(b);
  if (order !== 0) return order;
  const byTransaction = Number(a.transactionPosition ?? 0) - Number(b.transactionPosition ?? 0);
  if (byTransaction !== 0) return byTransaction;
  const [left, right] = [a.traceAddress ?? [], b.traceAddress ?? []];
  for (let i = 0; i < Math.min(left.length, right.length); i++)
    if (left[i] !== right[i]) return Number(left[i]) - Number(right[i]);
  return left.length - right.length;
}

/** Frames are before rewards, and the reward of the block is before those of its uncles. */
const rankOf = ({ type, action }: Placed): number =>
  type === 'reward' ? (action?.rewardType === 'block' ? 1 : 2) : 0;
