/**
 * Where a trace stands in the index: a segment of 1,024 blocks, and in it one 32-bit position.
 *
 * Positions of a segment sort as traces do in an answer: by block, then by their place in the block.
 * A range of 800 blocks, the widest that the seed allows, touches two segments at the most.
 */

/** Bits of a position that hold the block's offset in its segment. */
const BLOCK_BITS = 10;
/** Bits of a position that hold the trace's place in its block: 4,194,304 traces. */
const PLACE_BITS = 32 - BLOCK_BITS;

export const BLOCKS_PER_SEGMENT = 1 << BLOCK_BITS;
export const MAX_TRACES_PER_BLOCK = 1 << PLACE_BITS;

/** One past the highest position; not representable in 32 bits, so only for comparing. */
export const END_OF_SEGMENT = 2 ** 32;

export const segmentOf = (blockNumber: number): number => Math.floor(blockNumber / BLOCKS_PER_SEGMENT);

export const firstBlockOf = (segment: number): number => segment * BLOCKS_PER_SEGMENT;

/** The position of trace `place` (from 0) of block `blockNumber`, within the block's segment. */
export const positionOf = (blockNumber: number, place: number): number =>
  (blockNumber % BLOCKS_PER_SEGMENT) * MAX_TRACES_PER_BLOCK + place;

export const blockAt = (segment: number, position: number): number =>
  firstBlockOf(segment) + (position >>> PLACE_BITS);

export const placeAt = (position: number): number => position & (MAX_TRACES_PER_BLOCK - 1);
