/** What a guard has learned as one file, for a new machine. */
export {
  BadProfileFile,
  DIGEST_BYTES,
  entriesOf,
  MAX_HEAD_BYTES,
  profileChunks,
  readHead,
} from './profileFile.ts';
