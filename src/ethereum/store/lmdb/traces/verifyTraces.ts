import {
  BLOCKS_PER_SEGMENT,
  firstBlockOf,
  indexBlock,
  type StoredBlock,
  segmentOf,
  type Trace,
} from '../../../traces/index.ts';
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
  const environment = new TraceEnvironment(path, { readOnly: true, isVerified: true });
  const store = new LmdbTraceStore(environment, {}, true);
  try {
    const problems: string[] = [];
    const state = new IndexState(environment);
    state.refreshSnapshot();
    const head = state.head();
    for (
      let segment = segmentOf(head?.number ?? 0);
      segment >= 0 && problems.length < MAX_PROBLEMS;
      segment--
    ) {
      verifySegment(environment, state, store, segment, problems);
      progress(firstBlockOf(segment));
    }
    return problems;
  } finally {
    await store.close();
  }
}

type Expected = Map<string, number[]>;

function verifySegment(
  environment: TraceEnvironment,
  state: IndexState,
  store: LmdbTraceStore,
  segment: number,
  problems: string[],
): void {
  const expected: Expected = new Map();
  const first = firstBlockOf(segment);
  const counts = state.segment(segment);
  let previous = segment > 0 ? state.block(first - 1) : undefined;
  for (let offset = 0; offset < BLOCKS_PER_SEGMENT; offset++) {
    const block = state.block(first + offset);
    if ((block !== undefined) !== counts.has(offset))
      problems.push(`block ${first + offset} is in one list of blocks and not in the other`);
    if (block !== undefined) verifyBlock(store, block, previous, expected, problems);
    previous = block;
  }
  verifyPostings(environment, state, segment, expected, problems);
}

function verifyBlock(
  store: LmdbTraceStore,
  block: StoredBlock,
  previous: StoredBlock | undefined,
  expected: Expected,
  problems: string[],
): void {
  const { number, hash, parentHash, timestamp } = block;
  if (previous !== undefined && previous.hash !== parentHash)
    problems.push(`block ${number} is not the child of block ${previous.number}`);
  const text = store.blockTraces(number, Number.POSITIVE_INFINITY)?.toString() ?? '[]';
  const traces = JSON.parse(text) as Trace[]; // written from traces that were checked
  if (traces.length !== block.traceCount || traces.some((trace) => trace.blockHash !== hash)) {
    problems.push(`the traces of block ${number} are not those of ${hash}`);
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

function verifyPostings(
  environment: TraceEnvironment,
  state: IndexState,
  segment: number,
  expected: Expected,
  problems: string[],
): void {
  for (const side of SIDES) {
    const names = [...expected.keys()].filter((name) => name.startsWith(`${side} `));
    for (const name of names) {
      const positions = expected.get(name) ?? [];
      const list = state.postings(segment, side, name.slice(side.length + 1));
      const isSame =
        list?.length === positions.length && positions.every((position, i) => list.at(i) === position);
      if (!isSame)
        problems.push(`the list of ${name} from block ${firstBlockOf(segment)} on is not that of its traces`);
      if (problems.length >= MAX_PROBLEMS) return;
    }
  }
  const zero = `0x${'0'.repeat(40)}`;
  const range = { start: postingKey(segment, 'from', zero), end: postingKey(segment + 1, 'from', zero) };
  for (const key of environment.postings.getKeys(range)) {
    const side = SIDES[key[SIDE_AND_TERM_AT] ?? 0] ?? 'from';
    const term = `0x${key.toString('hex', SIDE_AND_TERM_AT + 1, SIDE_AND_TERM_AT + 21)}`;
    if (!expected.has(`${side} ${term}`))
      problems.push(`${side} ${term} has a list from block ${firstBlockOf(segment)} on, and no trace`);
    if (problems.length >= MAX_PROBLEMS) return;
  }
}
