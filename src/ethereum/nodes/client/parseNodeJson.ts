/** Minimum bytes per list or object of a large response. Those of the densest results, lists of frames, have 60. */
const MIN_BYTES_PER_CONTAINER = 16;
/** Responses up to this size may have any structure: parsing one takes a few milliseconds. */
const ANY_STRUCTURE_BYTES = 64 * 1024;
const [BRACKET, BRACE] = [0x5b, 0x7b];

/**
 * Parses the JSON of a node's response. Throws SyntaxError for invalid JSON, and for a response of tiny lists or
 * objects: each needs many times its length in memory, and JSON.parse of 64 MB of `[],` blocks the process for 30 s.
 */
export function parseNodeJson(bytes: Buffer): unknown {
  if (bytes.length > ANY_STRUCTURE_BYTES) checkContainers(bytes);
  return JSON.parse(bytes.toString());
}

function checkContainers(bytes: Buffer): void {
  const most = bytes.length / MIN_BYTES_PER_CONTAINER;
  let count = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if ((byte === BRACKET || byte === BRACE) && ++count > most)
      throw new SyntaxError(`more than one list or object per ${MIN_BYTES_PER_CONTAINER} bytes`);
  }
}
