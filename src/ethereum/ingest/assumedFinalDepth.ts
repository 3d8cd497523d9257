/** Where a node knows no finality, blocks this far below its head are taken for final. */
export const ASSUMED_FINAL_DEPTH = 256;
