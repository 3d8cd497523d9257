import {
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  firstBlockOf,
  type Hash,
  segmentOf,
} from '../../../traces/index.ts';
import type { RowStatement } from '../connection/clickHouse.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { RowReader } from '../connection/rowReader.ts';
import { RowWriter } from '../connection/rowWriter.ts';
import { type BlockRow, isDamaged, isTraced, readHash } from '../tables/blockRow.ts';
import { checksumOf } from '../tables/checksums.ts';
import { columnsOf, SEGMENT } from '../tables/tables.ts';
import {
  type BlockRows,
  byNumber,
  grouped,
  type Reading,
  ROWS_BY_WRITE,
  readTuples,
  readWriteRows,
  type Source,
  throwUnproven,
  VALID_IN_RANGE,
  type WriteRows,
  wrongChecksums,
  wrongLinks,
  wrongRows,
} from './blocks.ts';

/**
 * Number of rows of a segment, and the sum of their `write`, in `trace_blocks` and in `trace_parties`. Any added or lost
 * row changes it.
 */
export type Fingerprint = readonly bigint[];

/** State of the rows of a segment. */
export interface SegmentState {
  readonly print: Fingerprint;
  /** Ranges of blocks that are missing or unavailable. */
  readonly missing: readonly BlockRange[];
  /** Errors for blocks with too few or too many rows, or with wrong links. */
  readonly unproven: readonly UnprovenRead[];
  /** Writes whose rows are not part of a result: interrupted, outranked, and those of missing heights. */
  readonly ignored: readonly bigint[];
  /** Parent of the first block of the segment, and hash of the last one; undefined if that block is missing. */
  readonly parent: Hash | undefined;
  readonly last: Hash | undefined;
}

export type Fingerprints = ReadonlyMap<number, Fingerprint>;

const CHECKSUM_BYTES = 8;
/** Number of segments whose blocks one statement reads. */
const SEGMENTS_PER_READ = 16;
/** Maximum number of times that a search is repeated because rows were added meanwhile. */
const MAX_SEARCHES = 4;

/** SQL: one row with the fingerprints of the segments from {firstSegment} to {lastSegment}. */
const printsOf = (table: string): string =>
  `SELECT groupArray((segment, n, s)) AS prints FROM (
    SELECT ${SEGMENT} AS segment, count() AS n, sum(write) AS s FROM ${table}
    WHERE chain = {chain:UInt64} AND ${SEGMENT} BETWEEN {firstSegment:UInt32} AND {lastSegment:UInt32} GROUP BY segment)`;

interface PrintedStatement extends RowStatement {
  /** The fingerprints are those of the segments with these blocks. */
  readonly range: BlockRange;
}

/**
 * Reads a row and the fingerprints of segments with one statement, so that both are of the same state. The parameters
 * `chain`, `first` and `last` are set for the range.
 */
export function rowWithPrints<T extends object>(
  { host, chain }: Source,
  { range, columns, from, parameters }: PrintedStatement,
  read: (row: RowReader) => T,
): Promise<T & { readonly prints: Fingerprints }> {
  const { fromBlock, toBlock } = range;
  const statement = {
    columns: `${columns}, block_prints.prints, party_prints.prints`,
    from: `${from} CROSS JOIN (${printsOf('trace_blocks')}) AS block_prints
      CROSS JOIN (${printsOf('trace_parties')}) AS party_prints`,
    parameters: {
      chain: String(chain),
      first: fromBlock,
      last: toBlock,
      ...parameters,
      firstSegment: segmentOf(fromBlock),
      lastSegment: segmentOf(toBlock),
    },
  };
  return host.row(statement, (row) => ({ ...read(row), prints: readFingerprints(row) }));
}

function readFingerprints(row: RowReader): Fingerprints {
  const read = (): Map<number, Fingerprint> =>
    new Map(row.array(() => [row.uint32(), [row.bigUint64(), row.bigUint64()]]));
  const [blocks, parties] = [read(), read()];
  const printOf = (segment: number): Fingerprint =>
    [blocks, parties].flatMap((prints) => prints.get(segment) ?? [0n, 0n]);
  return new Map([...blocks.keys(), ...parties.keys()].map((segment) => [segment, printOf(segment)]));
}

const isEqual = (a: Fingerprint = [], b: Fingerprint = []): boolean =>
  a.length === b.length && a.every((value, i) => value === b[i]);

/** The cached states of the segments of a chain, which prove searches of any range. */
export class Segments {
  readonly #states = new Map<number, SegmentState>();

  /**
   * Runs a search with the cached states of a range. If the fingerprints that it returns differ from those of the
   * states, derives the states again, and repeats the search. Throws UnprovenRead if the states do not prove the blocks
   * in the range `searched`, on which the result depends, and that were not fetched.
   */
  async prove<T extends { readonly prints: Fingerprints; readonly searched: BlockRange }>(
    reading: Reading,
    range: BlockRange,
    search: (states: ReadonlyMap<number, SegmentState>) => Promise<T>,
  ): Promise<T> {
    for (let searches = 0; searches < MAX_SEARCHES; searches++) {
      const states = this.#within(range);
      const result = await search(states);
      const { prints, searched } = result;
      const stale = [...new Set([...states.keys(), ...prints.keys()])].filter(
        (segment) => !isEqual(states.get(segment)?.print, prints.get(segment)),
      );
      if (stale.length === 0) {
        const isSearched = (number: number): boolean =>
          number >= searched.fromBlock && number <= searched.toBlock;
        const errors = errorsIn(states).filter(({ blocks }) => blocks.some(isSearched));
        throwUnproven(reading.fetched.unsolved(errors));
        return result;
      }
      await this.#refresh(reading, stale);
    }
    throw new UnprovenRead('the shared index: rows were added during the read');
  }

  #within({ fromBlock, toBlock }: BlockRange): ReadonlyMap<number, SegmentState> {
    const [first, last] = [segmentOf(fromBlock), segmentOf(toBlock)];
    const within = [...this.#states].filter(([segment]) => segment >= first && segment <= last);
    return new Map(within.sort(([a], [b]) => a - b));
  }

  async #refresh(reading: Reading, stale: readonly number[]): Promise<void> {
    for (const segment of stale) this.#states.delete(segment);
    const range = blocksOf(Math.min(...stale), Math.max(...stale));
    const { prints, stored } = await readStored(reading, range);
    for (const { segment, state, isIntact } of stored)
      if (isIntact && isEqual(state.print, prints.get(segment))) this.#states.set(segment, state);
    const left = stale.filter((segment) => prints.has(segment) && !this.#states.has(segment));
    for (const run of runsOf(left.sort((a, b) => a - b)))
      for (const [segment, state] of await derive(reading, run)) this.#states.set(segment, state);
  }
}

/** Returns the state of a segment if all of its blocks are present and proven. */
export async function completeState(source: Source, segment: number): Promise<SegmentState | undefined> {
  const range = blocksOf(segment);
  const { prints } = await readStored(source, range);
  const [rows = 0n] = prints.get(segment) ?? [];
  if (rows < BLOCKS_PER_SEGMENT) return undefined;
  const state = (await derive(source, range)).get(segment);
  return state !== undefined && isComplete(state) ? state : undefined;
}

const isComplete = ({ missing, unproven }: SegmentState): boolean =>
  missing.length === 0 && unproven.length === 0;

/** Encodes the state of a complete segment as a row of `trace_segments`, which ends with its checksum. */
export function segmentRow(chain: bigint, segment: number, state: SegmentState): Buffer {
  const { print, parent = '0x', last = '0x', ignored } = state;
  const row = new RowWriter().uint64(chain).uint32(firstBlockOf(segment));
  for (const value of print) row.uint64(value);
  row.hex(parent).hex(last).length(ignored.length);
  for (const write of ignored) row.uint64(write);
  return row.uint64(checksumOf(row.written)).written;
}

/** Returns the current fingerprints of a range, and the rows of `trace_segments`. A damaged row is not `isIntact`. */
function readStored(source: Source, range: BlockRange) {
  const columns = columnsOf('trace_segments').replace('chain, ', '');
  const from = `FROM (SELECT groupArray((${columns})) AS stored
    FROM trace_segments WHERE chain = {chain:UInt64} AND number BETWEEN {first:UInt32} AND {last:UInt32}) AS s`;
  return rowWithPrints(source, { range, columns: 'stored', from }, (row) => {
    const stored = row.array(() => {
      const segment = segmentOf(row.uint32());
      const state: SegmentState = {
        print: Array.from({ length: 4 }, () => row.bigUint64()),
        parent: readHash(row),
        last: readHash(row),
        ignored: row.array(() => row.bigUint64()),
        missing: [],
        unproven: [],
      };
      const expected = segmentRow(source.chain, segment, state);
      const isIntact = row.bigUint64() === expected.readBigUInt64LE(expected.length - CHECKSUM_BYTES);
      return { segment, state, isIntact };
    });
    return { stored };
  });
}

/** Derives the states of segments from their rows. */
async function derive(source: Source, range: BlockRange): Promise<Map<number, SegmentState>> {
  const counted = await countRows(source, range);
  return new Map([...counted.prints].map(([segment, print]) => [segment, stateOf(segment, print, counted)]));
}

interface CountedRows {
  readonly blocks: BlockRows;
  readonly rows: readonly WriteRows[];
  readonly prints: Fingerprints;
}

/** What a read uses whose result the states of segments prove. */
export interface ProvenReading extends Reading {
  readonly segments: Segments;
}

/** Reads the blocks of segments, and counts their rows by address. */
function countRows(source: Source, range: BlockRange): Promise<CountedRows> {
  const from = `FROM (${grouped(VALID_IN_RANGE)}) AS b CROSS JOIN (${ROWS_BY_WRITE}) AS p`;
  return rowWithPrints(source, { range, columns: 'blocks, rows', from }, (row) => ({
    blocks: byNumber(readTuples(row)),
    rows: readWriteRows(row),
  }));
}

/** Returns the present blocks of a range, ascending. Throws UnprovenRead if a block lacks rows, or if links are wrong. */
export async function readCounted(source: Source, range: BlockRange): Promise<BlockRow[]> {
  const { blocks, rows } = await countRows(source, range);
  const within = [...blocks.values()];
  throwUnproven(faultsOf(within, rows));
  return within;
}

/**
 * Reads the blocks of a segment. Returns them with the errors: damaged rows, wrong links (also to the block below), and
 * a wrong row of `trace_segments`.
 */
export async function checkSegment(source: Source, segment: number) {
  const range = blocksOf(segment);
  const counted = await countRows(source, { ...range, fromBlock: Math.max(0, range.fromBlock - 1) });
  const near = [...counted.blocks.values()];
  const blocks = near.filter(({ number }) => number >= range.fromBlock);
  const errors = [...wrongChecksums(blocks), ...wrongLinks(near)];
  const state = stateOf(segment, counted.prints.get(segment) ?? [], counted);
  if (await hasWrongRow(source, segment, state)) {
    const { fromBlock, toBlock } = range;
    const row = `the row of the blocks ${fromBlock} to ${toBlock} in trace_segments`;
    errors.push(new UnprovenRead(`ClickHouse: ${row} is damaged`));
  }
  return { blocks, errors };
}

/** Whether a reader would use a wrong row of `trace_segments`, or uses none because the row is damaged. */
async function hasWrongRow(source: Source, segment: number, state: SegmentState): Promise<boolean> {
  const { stored } = await readStored(source, blocksOf(segment));
  const used = stored.filter((row) => row.isIntact && isEqual(row.state.print, state.print));
  if (!isComplete(state)) return used.length > 0;
  if (used.length === 0) return stored.some(({ isIntact }) => !isIntact);
  const rowOf = (one: SegmentState): Buffer => segmentRow(source.chain, segment, one);
  return !used.every((row) => rowOf(row.state).equals(rowOf(state)));
}

const faultsOf = (blocks: readonly BlockRow[], rows: readonly WriteRows[]): UnprovenRead[] => [
  ...wrongChecksums(blocks),
  ...wrongLinks(blocks),
  ...wrongRows(blocks, rows),
];

/** Returns all blocks of consecutive segments. */
export const blocksOf = (first: number, last = first): BlockRange => ({
  fromBlock: firstBlockOf(first),
  toBlock: firstBlockOf(last + 1) - 1,
});

/** Derives the state of a segment. */
function stateOf(segment: number, print: Fingerprint, { blocks, rows }: CountedRows): SegmentState {
  const { fromBlock: first, toBlock: last } = blocksOf(segment);
  const isWithin = ({ number }: { number: number }): boolean => number >= first && number <= last;
  const within = [...blocks.values()].filter(isWithin);
  const traced = within.filter((row) => isTraced(row) || isDamaged(row));
  const valid = new Set(traced.map(({ write }) => write));
  const missing: BlockRange[] = [];
  let next = first;
  for (const number of [...traced.map((block) => block.number), last + 1]) {
    if (number > next) missing.push({ fromBlock: next, toBlock: number - 1 });
    next = number + 1;
  }
  return {
    print,
    missing,
    unproven: faultsOf(within, rows),
    ignored: rows.filter((one) => isWithin(one) && !valid.has(one.write)).map(({ write }) => write),
    parent: blocks.get(first)?.parentHash,
    last: blocks.get(last)?.hash,
  };
}

/** Returns the errors of segments, and of the links from each segment to the next. */
function errorsIn(states: ReadonlyMap<number, SegmentState>): UnprovenRead[] {
  const ends = [...states].flatMap(([segment, { parent, last }]) => {
    const { fromBlock, toBlock } = blocksOf(segment);
    return [
      { number: fromBlock, hash: undefined, parentHash: parent },
      { number: toBlock, hash: last, parentHash: undefined },
    ];
  });
  return [...[...states.values()].flatMap(({ unproven }) => unproven), ...wrongLinks(ends)];
}

/** Divides ascending segments into runs of neighbours. */
function runsOf(segments: readonly number[]): BlockRange[] {
  const runs: { first: number; last: number }[] = [];
  for (const segment of segments) {
    const run = runs.at(-1);
    if (run?.last === segment - 1 && segment - run.first < SEGMENTS_PER_READ) run.last = segment;
    else runs.push({ first: segment, last: segment });
  }
  return runs.map(({ first, last }) => blocksOf(first, last));
}
