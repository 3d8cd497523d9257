import { RowWriter } from '../connection/rowWriter.ts';
import type { SegmentState } from '../reads/segments.ts';

/** Size of a row of `trace_segments` without its ignored writes. */
const SEGMENT_BYTES = 128;

/** Encodes the state of a complete segment as a row of `trace_segments`. */
export function segmentRow(chain: bigint, firstBlock: number, state: SegmentState): Buffer {
  const { blocks, blockSum, parties, partySum, parent = '', last = '', ignored } = state;
  const row = new RowWriter(SEGMENT_BYTES + 8 * ignored.length);
  row.uint64(chain).uint32(firstBlock).uint64(blocks).uint64(blockSum).uint64(parties).uint64(partySum);
  row.hex(parent).hex(last).length(ignored.length);
  for (const write of ignored) row.uint64(write);
  return row.written;
}
