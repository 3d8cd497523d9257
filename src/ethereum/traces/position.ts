/**
 * Position of a trace in the index: a segment of 1,024 blocks, and a 32-bit position in it.
 *
 * Positions of a segment sort in canonical trace order: by block, then by trace index. A trace_filter range of 800
 * blocks, the maximum, covers at most two segments.
 */

/** Number of bits for the block's offset in its segment. */
const BLOCK_BITS = 10;
/** Number of bits for the trace index: at most 4,194,304 traces per block. */
const TRACE_INDEX_BITS = 32 - BLOCK_BITS;

export const BLOCKS_PER_SEGMENT = 1 << BLOCK_BITS;
export const MAX_TRACES_PER_BLOCK = 1 << TRACE_INDEX_BITS;

/** One past the highest position. Exceeds 32 bits, so it is for comparisons only. */
export const END_OF_SEGMENT = 2 ** 32;

export const segmentOf = (blockNumber: number): number => Math.floor(blockNumber / BLOCKS_PER_SEGMENT);

export const firstBlockOf = (segment: number): number => segment * BLOCKS_PER_SEGMENT;

/** Returns the position of trace `traceIndex` (from 0) of block `blockNumber` in the block's segment. */
export const positionOf = (blockNumber: number, traceIndex: number): number =>
  (blockNumber % BLOCKS_PER_SEGMENT) * MAX_TRACES_PER_BLOCK + traceIndex;

export const blockAt = (segment: number, position: number): number =>
  firstBlockOf(segment) + (position >>> TRACE_INDEX_BITS);

export const traceIndexAt = (position: number): number => position & (MAX_TRACES_PER_BLOCK - 1);
