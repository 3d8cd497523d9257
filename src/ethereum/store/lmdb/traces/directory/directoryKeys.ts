/** Key of the directory's hash key. */
export const DIRECTORY_KEY = Buffer.from('history-hash-key');

export const SEGMENTS_KEY = Buffer.from('history-segments');
