/** If nodes do not report finalized blocks, ingest treats blocks at least this far below the head as final. */
export const ASSUMED_FINAL_DEPTH = 256;
