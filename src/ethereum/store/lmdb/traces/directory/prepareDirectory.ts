import type { Database } from 'lmdb';
import { BLOCKS_PER_SEGMENT } from '../../../../traces/index.ts';
import { uint32Key } from '../keys.ts';
import { Segment } from '../records.ts';
import { NO_ATTRIBUTES_KEY, OLD_SEGMENTS_KEY, SEGMENTS_KEY } from './directoryKeys.ts';
import { SegmentStates } from './segmentStates.ts';

/** The states of all segments, told by what is known of their blocks: none of them is in a run. */
export function statesOfSegments(segments: Database<Buffer, Buffer>): SegmentStates {
  const states = new SegmentStates();
  for (const { key, value } of segments.getRange())
    states.changed(key.readUInt32BE(0), stateOf(new Segment(value)));
  return states;
}

export const stateOf = (segment: Segment): { hasBlocks: boolean; isComplete: boolean } => ({
  hasBlocks: !segment.isEmpty,
  isComplete: segment.firstMissing(0) === BLOCKS_PER_SEGMENT,
});

interface Undirected {
  readonly meta: Database<Buffer, Buffer>;
  readonly segments: Database<Buffer, Buffer>;
}

/**
 * Makes an index that was made before there was this directory ready to get one, within a transaction: what it lacks is added while
 * it is served. Runs of an older layout are not looked at any more, and go as those that take their places are written.
 */
export function prepareDirectory({ meta, segments }: Undirected): void {
  if (meta.getBinary(SEGMENTS_KEY) !== undefined) return;
  const hasAttributes = meta.getBinary(OLD_SEGMENTS_KEY) !== undefined;
  const states = statesOfSegments(segments);
  meta.putSync(SEGMENTS_KEY, states.encode());
  meta.removeSync(OLD_SEGMENTS_KEY);
  if (states.length > 0 && !hasAttributes) meta.putSync(NO_ATTRIBUTES_KEY, uint32Key(0));
}
