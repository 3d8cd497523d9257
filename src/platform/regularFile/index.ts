/**
 * Opens regular files only: no links, pipes, sockets and devices, which may block, never end, or be another file.
 * Creates folders.
 */
export { createFolder } from './createFolder.ts';
export {
  openRegular,
  REGULAR_FILE_FLAGS,
  readRegular,
  requireFolder,
  requireRegular,
} from './regularFile.ts';
