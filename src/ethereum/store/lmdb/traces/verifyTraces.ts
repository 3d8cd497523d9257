import { type KeyRanges, readAllRecords } from '../../../../platform/storeFile/index.ts';
import {
  BLOCKS_PER_SEGMENT,
  firstBlockOf,
  indexBlock,
  type StoredBlock,
  segmentOf,
} from '../../../traces/index.ts';
import { DamagedIndexError } from './damagedIndexError.ts';
import { verifyAttributes, verifyDirectory } from './directory/verifyDirectory.ts';
import { TraceEnvironment } from './environment.ts';
import { IndexState } from './indexState.ts';
import { postingKey, SIDE_AND_TERM_AT, SIDES, uint32Key } from './keys.ts';
import { oldestOnDemand, onDemandTotals } from './onDemandRecords.ts';
import { damagedSingles, highestBlock } from './repair/repairSingles.ts';
import { storedTraces } from './storedTraces.ts';

/** Maximum number of problems to report. At this number, the verification stops. */
const MAX_PROBLEMS = 20;

/** The segments that one of several processes verifies. */
export interface VerifiedShare {
  /** Number of this process, from 0 to `processes` - 1. The first one also verifies what belongs to no segment. */
  readonly index: number;
  readonly processes: number;
  /** Segments that need no verification, because an earlier run has verified them. */
  readonly done: ReadonlySet<number>;
}

export const WHOLE: VerifiedShare = { index: 0, processes: 1, done: new Set() };

/**
 * Verifies an index, and returns one message for each problem. Each block must be the child of the block before it
 * and, unless it is unavailable, have all traces. Posting lists must match the traces exactly. All reads see the same
 * snapshot. The last messages are the commands that repair the damaged segments. Calls `progress` with each segment
 * without problems, from the highest to the lowest.
 */
export async function verifyTraces(
  path: string,
  progress: (segment: number, firstBlock: number) => void,
  share = WHOLE,
): Promise<string[]> {
  const environment = TraceEnvironment.open(path, { readOnly: true, isVerified: true });
  try {
    const singles = damagedSingles(environment);
    if (singles.length > 0) return share.index === 0 ? problemsOfSingles(singles, environment) : [];
    const verifier = new Verifier(environment);
    const segments = segmentsOf(share, verifier.lastSegment);
    await readAllRecords(path, keyRanges(share, segments));
    const damaged: number[] = [];
    for (const segment of segments) {
      const before = verifier.problems.length;
      verifier.verifySegment(segment);
      if (verifier.problems.length > before) damaged.push(segment);
      if (verifier.isFull) break;
      if (verifier.problems.length === 0) progress(segment, firstBlockOf(segment));
    }
    if (share.index === 0) verifier.verifyOnDemand();
    return [...verifier.problems, ...damaged.map(repairCommand)];
  } finally {
    await environment.close();
  }
}

const repairCommand = (segment: number): string =>
  `repair: floodgate index --again ${firstBlockOf(segment)}-${firstBlockOf(segment + 1) - 1} --upstream URL`;

/** Single records are read with each part of the index, so nothing else is verified before their repair. */
const problemsOfSingles = (names: readonly string[], environment: TraceEnvironment): string[] => [
  ...names.map((name) => `the index is damaged: record ${name} of meta does not match its checksum`),
  // Each command that writes the index repairs its single records.
  repairCommand(segmentOf(highestBlock(environment, 2 ** 32 - 1) ?? 0)),
];

/** Returns the segments of a share, descending. */
function segmentsOf({ index, processes, done }: VerifiedShare, last: number): number[] {
  const segments: number[] = [];
  for (let segment = last; segment >= 0; segment--)
    if (segment % processes === index && !done.has(segment)) segments.push(segment);
  return segments;
}

/** Returns the keys to read of each database: those of the segments, and in the first share all others. */
const keyRanges =
  ({ index }: VerifiedShare, segments: readonly number[]): KeyRanges =>
  (database) => {
    if (database === 'postings')
      return segments.map((one) => ({ start: uint32Key(one), end: uint32Key(one + 1) }));
    if (/^(blocks|attributes|chunks-\d+)$/.test(database))
      return segments.map((one) => ({
        start: uint32Key(firstBlockOf(one)),
        end: uint32Key(firstBlockOf(one + 1)),
      }));
    return index === 0 ? undefined : [];
  };

type Expected = Map<string, number[]>;

class Verifier {
  readonly problems: string[] = [];
  readonly #environment: TraceEnvironment;
  readonly #state: IndexState;
  readonly #unavailable: ReadonlySet<number>;

  constructor(environment: TraceEnvironment) {
    this.#environment = environment;
    this.#state = new IndexState(environment);
    this.#state.refreshSnapshot();
    this.#unavailable = new Set(this.#state.unavailableNumbers());
  }

  get #verified(): { environment: TraceEnvironment; state: IndexState } {
    return { environment: this.#environment, state: this.#state };
  }

  get lastSegment(): number {
    return segmentOf(this.#state.head()?.number ?? 0);
  }

  get isFull(): boolean {
    return this.problems.length >= MAX_PROBLEMS;
  }

  /** Verifies that the records of on-demand blocks match each other and the blocks. */
  verifyOnDemand(): void {
    let [bytes, count] = [0, 0];
    for (const block of oldestOnDemand(this.#verified)) {
      if (this.isFull) return;
      bytes += block.bytes;
      count++;
      if (this.#state.block(block.number) === undefined)
        this.problems.push(`block ${block.number} is on demand, but not in the index`);
    }
    const isWhole =
      bytes === onDemandTotals(this.#verified).bytes && count === this.#environment.onDemand.getCount();
    if (!isWhole) this.problems.push('the list of on-demand blocks does not match its records');
  }

  verifySegment(segment: number): void {
    this.#report(() => this.#verifySegment(segment));
  }

  #verifySegment(segment: number): void {
    const expected: Expected = new Map();
    const first = firstBlockOf(segment);
    const counts = this.#state.segment(segment);
    let previous = segment > 0 ? this.#state.block(first - 1) : undefined;
    const verifyBlock = (offset: number): void => {
      const before = previous;
      previous = undefined;
      const block = this.#state.block(first + offset);
      const hasTraces = block !== undefined && block.unavailable === undefined;
      if (hasTraces !== counts.has(offset))
        this.problems.push(`block ${first + offset} is in only one of the databases blocks and segments`);
      if ((block?.unavailable !== undefined) !== this.#unavailable.has(first + offset))
        this.problems.push(
          `block ${first + offset} is unavailable in only one of its record and the list of unavailable blocks`,
        );
      previous = block;
      if (block !== undefined) this.#verifyLink(block, before);
      if (hasTraces) {
        this.#verifyTraces(block, expected);
        verifyAttributes(this.#verified, block, this.problems);
      }
    };
    let isReadable = true;
    for (let offset = 0; offset < BLOCKS_PER_SEGMENT && !this.isFull; offset++)
      isReadable = this.#report(() => verifyBlock(offset)) && isReadable;
    // The traces of a damaged block are not known, so its postings cannot be verified.
    if (!isReadable) return;
    this.#verifyPostings(segment, expected);
    verifyDirectory(this.#verified, segment, { expected, problems: this.problems });
  }

  /** Runs a check. Returns false, and reports the problem, if a record is damaged. */
  #report(check: () => void): boolean {
    try {
      check();
      return true;
    } catch (error) {
      if (!(error instanceof DamagedIndexError)) throw error;
      this.problems.push(error.message);
      return false;
    }
  }

  #verifyLink({ number, parentHash }: StoredBlock, previous: StoredBlock | undefined): void {
    if (previous !== undefined && previous.hash !== parentHash)
      this.problems.push(`block ${number} is not the child of block ${previous.number}`);
  }

  #verifyTraces(block: StoredBlock, expected: Expected): void {
    const { number, hash, parentHash, timestamp } = block;
    const traces = [...storedTraces(this.#state, block)];
    if (traces.length !== block.traceCount || traces.some((trace) => trace.blockHash !== hash)) {
      this.problems.push(`the traces of block ${number} do not match its hash ${hash}`);
      return;
    }
    const header = { number, hash, parentHash, timestamp, transactionHashes: [] };
    const { postings } = indexBlock(header, traces);
    for (const side of SIDES)
      postings[side].terms.forEach((term, i) => {
        const key = `${side} ${term}`;
        const positions = expected.get(key);
        const position = postings[side].positions[i] ?? 0;
        if (positions === undefined) expected.set(key, [position]);
        else positions.push(position);
      });
  }

  #verifyPostings(segment: number, expected: Expected): void {
    for (const side of SIDES) {
      const names = [...expected.keys()].filter((name) => name.startsWith(`${side} `));
      for (const name of names) {
        const positions = expected.get(name) ?? [];
        const list = this.#state.postings(segment, side, name.slice(side.length + 1));
        const isSame =
          list?.length === positions.length && positions.every((position, i) => list.at(i) === position);
        if (!isSame)
          this.problems.push(
            `the posting list of ${name} in the segment from block ${firstBlockOf(segment)} does not match its traces`,
          );
        if (this.isFull) return;
      }
    }
    const zero = `0x${'0'.repeat(40)}`;
    const range = { start: postingKey(segment, 'from', zero), end: postingKey(segment + 1, 'from', zero) };
    for (const key of this.#environment.postings.getKeys(range)) {
      const side = SIDES[key[SIDE_AND_TERM_AT] ?? 0] ?? 'from';
      const term = `0x${key.toString('hex', SIDE_AND_TERM_AT + 1, SIDE_AND_TERM_AT + 21)}`;
      if (!expected.has(`${side} ${term}`))
        this.problems.push(
          `${side} ${term} has a posting list but no traces in the segment from block ${firstBlockOf(segment)}`,
        );
      if (this.isFull) return;
    }
  }
}
