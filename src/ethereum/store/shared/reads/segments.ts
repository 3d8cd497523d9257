import {
  BLOCKS_PER_SEGMENT,
  type BlockRange,
  firstBlockOf,
  type Hash,
  segmentOf,
} from '../../../traces/index.ts';
import type { ClickHouse, Parameters } from '../connection/clickHouse.ts';
import { UnprovenRead } from '../connection/failures.ts';
import type { RowReader } from '../connection/rowReader.ts';
import { type BlockRow, isTraced, readBlockRow, readHash } from '../tables/blockRow.ts';
import { SEGMENT } from '../tables/tables.ts';
import {
  type BlockRows,
  byNumber,
  grouped,
  type Reading,
  ROWS_BY_WRITE,
  readWriteRows,
  throwUnproven,
  VALID_IN_RANGE,
  type WriteRows,
  wrongLinks,
  wrongRows,
} from './blocks.ts';

/** Number of rows of a segment, and the sum of their `write`, in both tables. Any added or lost row changes it. */
export interface Fingerprint {
  readonly blocks: bigint;
  readonly blockSum: bigint;
  readonly parties: bigint;
  readonly partySum: bigint;
}

/** State of the rows of a segment. */
export interface SegmentState extends Fingerprint {
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

/** Number of segments whose blocks one statement reads. */
const SEGMENTS_PER_READ = 16;
/** Maximum number of times that a search is repeated because rows were added meanwhile. */
const MAX_SEARCHES = 4;
const NONE: Fingerprint = { blocks: 0n, blockSum: 0n, parties: 0n, partySum: 0n };

/** SQL: one row with the fingerprints of the segments from {firstSegment} to {lastSegment}. */
const printsOf = (table: string): string =>
  `SELECT groupArray((segment, n, s)) AS prints FROM (
    SELECT ${SEGMENT} AS segment, count() AS n, sum(write) AS s FROM ${table}
    WHERE chain = {chain:UInt64} AND ${SEGMENT} BETWEEN {firstSegment:UInt32} AND {lastSegment:UInt32} GROUP BY segment)`;

/** SQL: to be added to a statement, so that it reads the fingerprints of the same state as its other parts. */
export const FINGERPRINTS = {
  columns: 'block_prints.prints, party_prints.prints',
  from: `CROSS JOIN (${printsOf('trace_blocks')}) AS block_prints CROSS JOIN (${printsOf('trace_parties')}) AS party_prints`,
} as const;

/** Reads the columns of FINGERPRINTS. */
export function readFingerprints(row: RowReader): Fingerprints {
  const read = (): Map<number, { n: bigint; sum: bigint }> =>
    new Map(row.array(() => [row.uint32(), { n: row.bigUint64(), sum: row.bigUint64() }] as const));
  const [blocks, parties] = [read(), read()];
  const prints = new Map<number, Fingerprint>();
  for (const segment of new Set([...blocks.keys(), ...parties.keys()])) {
    const [b, p] = [blocks.get(segment), parties.get(segment)];
    prints.set(segment, {
      ...{ blocks: b?.n ?? 0n, blockSum: b?.sum ?? 0n, parties: p?.n ?? 0n, partySum: p?.sum ?? 0n },
    });
  }
  return prints;
}

const isEqual = (a: Fingerprint = NONE, b: Fingerprint = NONE): boolean =>
  a.blocks === b.blocks && a.blockSum === b.blockSum && a.parties === b.parties && a.partySum === b.partySum;

/** Result of a search, with the fingerprints of its segments and the range of blocks on which it depends. */
export interface ProvenSearch {
  readonly prints: Fingerprints;
  readonly searched: BlockRange;
}

/** The cached states of the segments of a chain, which prove searches of any range. */
export class Segments {
  readonly #chain: bigint;
  readonly #states = new Map<number, SegmentState>();

  constructor(chain: bigint) {
    this.#chain = chain;
  }

  /**
   * Runs a search with the cached states of a range. If the fingerprints that it returns differ from those of the
   * states, derives the states again, and repeats the search. Throws UnprovenRead if the states do not prove the blocks
   * on which the result depends, and that were not fetched.
   */
  async prove<T extends ProvenSearch>(
    { host, fetched }: Pick<Reading, 'host' | 'fetched'>,
    range: BlockRange,
    search: (states: ReadonlyMap<number, SegmentState>) => Promise<T>,
  ): Promise<T> {
    for (let searches = 0; searches < MAX_SEARCHES; searches++) {
      const states = this.#within(range);
      const result = await search(states);
      const { prints, searched } = result;
      const stale = [...new Set([...states.keys(), ...prints.keys()])].filter(
        (segment) => !isEqual(states.get(segment), prints.get(segment)),
      );
      if (stale.length === 0) {
        const isSearched = (number: number): boolean =>
          number >= searched.fromBlock && number <= searched.toBlock;
        const errors = errorsIn(states).filter(({ blocks }) => blocks.some(isSearched));
        throwUnproven(fetched?.unsolved(errors) ?? errors);
        return result;
      }
      await this.#refresh(host, stale);
    }
    throw new UnprovenRead('the shared index: rows were added during the read');
  }

  /** Derives the state of a segment from its rows. */
  async derive(host: ClickHouse, segment: number): Promise<SegmentState | undefined> {
    return (await this.#derive(host, blocksOf(segment))).get(segment);
  }

  #within({ fromBlock, toBlock }: BlockRange): ReadonlyMap<number, SegmentState> {
    const [first, last] = [segmentOf(fromBlock), segmentOf(toBlock)];
    const within = [...this.#states].filter(([segment]) => segment >= first && segment <= last);
    return new Map(within.sort(([a], [b]) => a - b));
  }

  async #refresh(host: ClickHouse, stale: readonly number[]): Promise<void> {
    for (const segment of stale) this.#states.delete(segment);
    const { prints, stored } = await this.#stored(host, blocksOf(Math.min(...stale), Math.max(...stale)));
    for (const segment of stale) {
      const state = stored.get(segment)?.find((one) => isEqual(one, prints.get(segment)));
      if (state !== undefined) this.#states.set(segment, state);
    }
    const left = stale.filter((segment) => prints.has(segment) && !this.#states.has(segment));
    for (const run of runsOf(left.sort((a, b) => a - b)))
      for (const [segment, state] of await this.#derive(host, run)) this.#states.set(segment, state);
  }

  /** Returns the current fingerprints of a range, and the rows of `trace_segments`. */
  async #stored(
    host: ClickHouse,
    range: BlockRange,
  ): Promise<{ prints: Fingerprints; stored: ReadonlyMap<number, SegmentState[]> }> {
    const from = `FROM (SELECT groupArray((number, blocks, block_sum, parties, party_sum, parent, last, ignored)) AS stored
      FROM trace_segments WHERE chain = {chain:UInt64} AND number BETWEEN {first:UInt32} AND {last:UInt32}) AS s
      ${FINGERPRINTS.from}`;
    const parameters = rangeParameters(this.#chain, range);
    return host.row({ columns: `stored, ${FINGERPRINTS.columns}`, from, parameters }, 0, (row) => {
      const stored = new Map<number, SegmentState[]>();
      row.array(() => {
        const segment = row.uint32() / BLOCKS_PER_SEGMENT;
        const state: SegmentState = {
          ...{ blocks: row.bigUint64(), blockSum: row.bigUint64() },
          ...{ parties: row.bigUint64(), partySum: row.bigUint64() },
          ...{ parent: readHash(row), last: readHash(row) },
          ignored: row.array(() => row.bigUint64()),
          ...{ missing: [], unproven: [] },
        };
        stored.set(segment, [...(stored.get(segment) ?? []), state]);
      });
      return { prints: readFingerprints(row), stored };
    });
  }

  async #derive(host: ClickHouse, range: BlockRange): Promise<Map<number, SegmentState>> {
    const { prints, ...counted } = await countRows(host, this.#chain, range);
    return new Map([...prints].map(([segment, print]) => [segment, stateOf(segment, print, counted)]));
  }
}

/** Reads the blocks of segments, and counts their rows by address. */
async function countRows(
  host: ClickHouse,
  chain: bigint,
  range: BlockRange,
): Promise<CountedRows & { readonly prints: Fingerprints }> {
  const from = `FROM (${grouped(VALID_IN_RANGE)}) AS b
    CROSS JOIN (${ROWS_BY_WRITE}) AS p ${FINGERPRINTS.from}`;
  const parameters = rangeParameters(chain, range);
  return host.row({ columns: `blocks, rows, ${FINGERPRINTS.columns}`, from, parameters }, 0, (row) => {
    const blocks = byNumber(row.array(() => readBlockRow(row)));
    return { blocks, rows: readWriteRows(row), prints: readFingerprints(row) };
  });
}

/** Returns the present blocks of a range, ascending. Throws UnprovenRead if a block lacks rows, or if links are wrong. */
export async function readCounted(host: ClickHouse, chain: bigint, range: BlockRange): Promise<BlockRow[]> {
  const { blocks, rows } = await countRows(host, chain, range);
  const within = [...blocks.values()];
  throwUnproven([...wrongLinks(within), ...wrongRows(within, rows)]);
  return within;
}

/** Returns the parameters for a range of blocks, and for the fingerprints of its segments. */
export const rangeParameters = (chain: bigint, { fromBlock, toBlock }: BlockRange): Parameters => ({
  ...{ chain: String(chain), first: fromBlock, last: toBlock },
  ...{ firstSegment: segmentOf(fromBlock), lastSegment: segmentOf(toBlock) },
});

/** Returns all blocks of consecutive segments. */
export const blocksOf = (first: number, last = first): BlockRange => ({
  ...{ fromBlock: firstBlockOf(first), toBlock: firstBlockOf(last + 1) - 1 },
});

interface CountedRows {
  readonly blocks: BlockRows;
  readonly rows: readonly WriteRows[];
}

/** Derives the state of a segment. */
function stateOf(segment: number, print: Fingerprint, { blocks, rows }: CountedRows): SegmentState {
  const { fromBlock: first, toBlock: last } = blocksOf(segment);
  const isWithin = ({ number }: { number: number }): boolean => number >= first && number <= last;
  const within = [...blocks.values()].filter(isWithin);
  const traced = within.filter(isTraced);
  const valid = new Set(traced.map(({ write }) => write));
  const missing: BlockRange[] = [];
  let next = first;
  for (const { number } of traced) {
    if (number > next) missing.push({ fromBlock: next, toBlock: number - 1 });
    next = number + 1;
  }
  if (next <= last) missing.push({ fromBlock: next, toBlock: last });
  return {
    ...{ ...print, missing, unproven: [...wrongLinks(within), ...wrongRows(within, rows)] },
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
