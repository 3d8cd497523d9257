export const BLOCK_TAGS = ['latest', 'safe', 'finalized', 'earliest'] as const;
export type BlockTag = (typeof BLOCK_TAGS)[number];

/** A bound of a range: a block's number, or a tag that the head gives a number. */
export type BlockBound = number | BlockTag;
