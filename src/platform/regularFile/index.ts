/**
 * Opens regular files only: no links, pipes, sockets and devices, which may block, never end, or be another file. A
 * file that the operator names may be a link. Creates folders.
 */
export { createFolder } from './createFolder.ts';
export { MAX_PEM_BYTES, readDescriptor, readNamed } from './readNamed.ts';
export {
  openNamed,
  openRegular,
  REGULAR_FILE_FLAGS,
  readRegular,
  requireFolder,
  requireRegular,
} from './regularFile.ts';
