/** Export and import of the learned state as one file, for a new machine. */
export {
  BadProfileFile,
  DIGEST_BYTES,
  decodeEntries,
  encodeProfile,
  MAX_HEADER_BYTES,
  readHeader,
} from './profileFile.ts';
