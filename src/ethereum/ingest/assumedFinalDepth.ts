/** If a node does not report finality, blocks this far below its head count as final. */
export const ASSUMED_FINAL_DEPTH = 256;
