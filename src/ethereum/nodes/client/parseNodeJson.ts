/** Minimum bytes per list or object of a large response. The densest results are lists of frames, with 60. */
const MIN_BYTES_PER_CONTAINER = 16;
/** Responses up to this size may have any structure: parsing one takes a few milliseconds. */
const ANY_STRUCTURE_BYTES = 64 * 1024;
const CONTAINER_STARTS = [0x5b, 0x7b]; // [ and {

/**
 * Parses the JSON of a node's response. Throws SyntaxError for invalid JSON, and for a response of tiny lists or
 * objects: each needs many times its length in memory, and JSON.parse of 64 MB of `[],` blocks the process for 30 s.
 */
export function parseNodeJson(bytes: Buffer): unknown {
  if (bytes.length > ANY_STRUCTURE_BYTES) checkContainers(bytes);
  return JSON.parse(bytes.toString());
}

function checkContainers(bytes: Buffer): void {
  let left = bytes.length / MIN_BYTES_PER_CONTAINER;
  // `indexOf` needs a tenth of the time of a loop over all bytes.
  for (const start of CONTAINER_STARTS)
    for (let at = bytes.indexOf(start); at !== -1; at = bytes.indexOf(start, at + 1))
      if (--left < 0)
        throw new SyntaxError(`more than one list or object per ${MIN_BYTES_PER_CONTAINER} bytes`);
}
