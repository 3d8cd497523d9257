import { DamagedIndexError } from '../damagedIndexError.ts';

/** Key of the record that contains the secret key of the hash function for addresses. */
export const DIRECTORY_KEY = Buffer.from('history-hash-key');

/** Returns the error if the index has runs, but not this record. */
export const missingDirectoryKey = (): DamagedIndexError =>
  new DamagedIndexError('the hash key of the directory is missing', { kind: 'singles' });

export const SEGMENTS_KEY = Buffer.from('history-segments');
