import {
  BLOCKS_PER_SEGMENT,
  blockAt,
  positionOf,
  type StoredBlock,
  segmentOf,
} from '../../../../traces/index.ts';
import { SEGMENTS_KEY } from '../directory/directoryKeys.ts';
import { SegmentStates } from '../directory/segmentStates.ts';
import { STATE_KEY, type TraceEnvironment, UNAVAILABLE_KEY } from '../environment.ts';
import type { IndexState } from '../indexState.ts';
import { chunksOf, pageKey, uint32Key } from '../keys.ts';
import { OnDemandChanges } from '../onDemandRecords.ts';
import { positionsOf, wordsOf } from '../postings/postingPages.ts';
import { postingKeysOf } from '../postings/storedPostings.ts';
import { encodeNumbers, encodeVersion, Segment } from '../records.ts';
import { postingListChanger } from './postingListChanger.ts';
import { Writes } from './writes.ts';

interface Stores {
  readonly environment: TraceEnvironment;
  readonly state: IndexState;
}

/**
 * Returns the writes that remove on-demand blocks from the index. The postings of a block may be in the posting lists
 * on disk, in memory (derived from its chunks), or in both, if a merge was interrupted.
 */
export function evictBlocks(numbers: readonly number[], { environment, state }: Stores): Writes {
  const writes = new Writes();
  const blocks = numbers.flatMap((number) => state.block(number) ?? []);
  const onDemand = new OnDemandChanges({ environment, state }, writes);
  for (const number of numbers) {
    onDemand.delete(number);
    writes.delete(environment.blocks, uint32Key(number));
  }
  onDemand.finish();

  const evicted = new Set(numbers);
  const unavailable = state.unavailableNumbers();
  const left = unavailable.filter((number) => !evicted.has(number));
  if (left.length < unavailable.length) writes.put(environment.meta, UNAVAILABLE_KEY, encodeNumbers(left));

  const states = new SegmentStates(state.segmentStates().encode());
  const withTraces = blocks.filter((block) => block.unavailable === undefined);
  for (const number of new Set(withTraces.map((block) => segmentOf(block.number)))) {
    const ofSegment = withTraces.filter((block) => segmentOf(block.number) === number);
    const segment = new Segment(state.segment(number).encode());
    removeTraces(ofSegment, segment, { environment, state, writes });
    writes.put(environment.segments, uint32Key(number), segment.encode());
    states.recordChange(number, { hasBlocks: !segment.isEmpty, isComplete: false });
  }
  writes.put(environment.meta, SEGMENTS_KEY, states.encode());
  const { changes, rewrites } = state.refreshSnapshot();
  writes.put(environment.meta, STATE_KEY, encodeVersion({ changes: changes + 1, rewrites: rewrites + 1 }));
  return writes;
}

/** Removes the traces of blocks of one segment. */
function removeTraces(
  blocks: readonly StoredBlock[],
  segment: Segment,
  { environment, state, writes }: Stores & { readonly writes: Writes },
): void {
  const number = segmentOf(blocks[0]?.number ?? 0);
  const chunks = environment.chunks(segment.dictionary);
  for (const block of blocks) {
    segment.set(block.number % BLOCKS_PER_SEGMENT, undefined);
    writes.delete(environment.attributes, uint32Key(block.number));
    for (const key of chunks.getKeys(chunksOf(block.number))) writes.delete(chunks, Buffer.from(key));
  }
  const removed = new Set(blocks.map((block) => block.number));
  const removeStart = positionOf(Math.min(...removed), 0);
  const changeList = postingListChanger({ environment, state, writes });
  for (const key of postingKeysOf(blocks, state)) {
    const pageZero = state.read(environment.postings, key);
    if (pageZero === undefined) continue;
    const readPage = (page: number) => state.read(environment.postings, pageKey(key, page));
    const added = positionsOf(wordsOf(pageZero), readPage).filter(
      (position) => position >= removeStart && !removed.has(blockAt(number, position)),
    );
    changeList(key, { removeStart, added });
  }
}
