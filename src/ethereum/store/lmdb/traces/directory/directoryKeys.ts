/** Key of the record that contains the secret key of the hash function for addresses. */
export const DIRECTORY_KEY = Buffer.from('history-hash-key');

export const SEGMENTS_KEY = Buffer.from('history-segments');
