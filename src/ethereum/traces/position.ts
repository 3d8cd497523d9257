/**
 * A segment of 1,024 blocks and a 32-bit position in the segment locate a trace in the index.
 *
 * Positions of a segment sort in canonical trace order: by block, then by trace index. The maximum range of a
 * trace_filter, 800 blocks, covers at most two segments.
 */

/** Number of bits of a position that contain the offset of the block in its segment. */
const BLOCK_BITS = 10;
/** Number of bits of a position that contain the trace index, which allows 4,194,304 traces per block. */
const TRACE_INDEX_BITS = 32 - BLOCK_BITS;

export const BLOCKS_PER_SEGMENT = 1 << BLOCK_BITS;
export const MAX_TRACES_PER_BLOCK = 1 << TRACE_INDEX_BITS;

/** The highest position of a segment plus one. It exceeds 32 bits, so it can be compared, but not stored. */
export const END_OF_SEGMENT = 2 ** 32;

export const segmentOf = (blockNumber: number): number => Math.floor(blockNumber / BLOCKS_PER_SEGMENT);

export const firstBlockOf = (segment: number): number => segment * BLOCKS_PER_SEGMENT;

/** Returns the position of a trace in its block's segment. The index of a block's first trace is 0. */
export const positionOf = (blockNumber: number, traceIndex: number): number =>
  (blockNumber % BLOCKS_PER_SEGMENT) * MAX_TRACES_PER_BLOCK + traceIndex;

export const blockAt = (segment: number, position: number): number =>
  firstBlockOf(segment) + (position >>> TRACE_INDEX_BITS);

export const traceIndexAt = (position: number): number => position & (MAX_TRACES_PER_BLOCK - 1);
