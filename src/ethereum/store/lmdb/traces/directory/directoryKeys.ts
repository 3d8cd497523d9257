/** Database key of the secret key with which the directory hashes addresses. */
export const DIRECTORY_KEY = Buffer.from('history-hash-key');

export const SEGMENTS_KEY = Buffer.from('history-segments');
