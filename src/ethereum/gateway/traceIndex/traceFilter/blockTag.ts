export const BLOCK_TAGS = ['latest', 'safe', 'finalized', 'earliest'] as const;
export type BlockTag = (typeof BLOCK_TAGS)[number];

/** Bound of a range: a block number, or a tag such as `latest` that still has to be replaced by a number. */
export type BlockBound = number | BlockTag;
