import {
  BLOCKS_PER_SEGMENT,
  firstBlockOf,
  indexBlock,
  type StoredBlock,
  segmentOf,
} from '../../../traces/index.ts';
import { verifyAttributes, verifyDirectory } from './directory/verifyDirectory.ts';
import { TraceEnvironment } from './environment.ts';
import { IndexState } from './indexState.ts';
import { postingKey, SIDE_AND_TERM_AT, SIDES } from './keys.ts';
import { LmdbTraceStore } from './traceStore.ts';

/** Problems after which a store is damaged enough: no more are looked for. */
const MAX_PROBLEMS = 20;

/**
 * What is wrong with an index: each block must be there with all its traces, be its neighbour's child, and be found by each
 * address and transaction of its traces, and by no other. Empty where nothing is. Reads one state, beside whoever writes;
 * `progress` hears of each segment.
 */
export async function verifyTraces(path: string, progress: (blockNumber: number) => void): Promise<string[]> {
  const environment = TraceEnvironment.open(path, { readOnly: true, isVerified: true });
  const store = new LmdbTraceStore(environment, {}, true);
  try {
    const verifier = new Verifier(environment, store);
    for (let segment = verifier.lastSegment; segment >= 0 && !verifier.isFull; segment--) {
      verifier.verifySegment(segment);
      progress(firstBlockOf(segment));
    }
    return verifier.problems;
  } finally {
    await store.close();
  }
}

type Expected = Map<string, number[]>;

class Verifier {
  readonly problems: string[] = [];
  readonly #environment: TraceEnvironment;
  readonly #store: LmdbTraceStore;
  readonly #state: IndexState;

  constructor(environment: TraceEnvironment, store: LmdbTraceStore) {
    this.#environment = environment;
    this.#store = store;
    this.#state = new IndexState(environment);
    this.#state.refreshSnapshot();
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

  verifySegment(segment: number): void {
    const expected: Expected = new Map();
    const first = firstBlockOf(segment);
    const counts = this.#state.segment(segment);
    let previous = segment > 0 ? this.#state.block(first - 1) : undefined;
    for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) {
      const block = this.#state.block(first + offset);
      if ((block !== undefined) !== counts.has(offset))
        this.problems.push(`block ${first + offset} is in one list of blocks and not in the other`);
      if (block !== undefined) {
        this.#verifyBlock(block, previous, expected);
        verifyAttributes(this.#verified, block, this.problems);
      }
      previous = block;
    }
    this.#verifyPostings(segment, expected);
    verifyDirectory(this.#verified, segment, { expected, problems: this.problems });
  }

  #verifyBlock(block: StoredBlock, previous: StoredBlock | undefined, expected: Expected): void {
    const { number, hash, parentHash, timestamp } = block;
    if (previous !== undefined && previous.hash !== parentHash)
      this.problems.push(`block ${number} is not the child of block ${previous.number}`);
    const traces = this.#store.tracesOf(block);
    if (traces.length !== block.traceCount || traces.some((trace) => trace.blockHash !== hash)) {
      this.problems.push(`the traces of block ${number} are not those of ${hash}`);
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
            `the list of ${name} from block ${firstBlockOf(segment)} on is not that of its traces`,
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
        this.problems.push(`${side} ${term} has a list from block ${firstBlockOf(segment)} on, and no trace`);
      if (this.isFull) return;
    }
  }
}
