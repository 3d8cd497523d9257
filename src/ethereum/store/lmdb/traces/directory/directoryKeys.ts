/** Where the key of the directory's hash is kept. */
export const DIRECTORY_KEY = Buffer.from('history-hash-key');

/** Where the states of all segments are kept. Another name with each layout of runs: what one of another has made is not read. */
export const SEGMENTS_KEY = Buffer.from('history-segments-3');

/** The same of the second format, whose runs have no positions. */
export const OLD_SEGMENTS_KEY = Buffer.from('history-segments');

/** Where it is kept up to which block the attributes of traces still have to be added; nothing where they have been. */
export const NO_ATTRIBUTES_KEY = Buffer.from('history-attributes-from');
