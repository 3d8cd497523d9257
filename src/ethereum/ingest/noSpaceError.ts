/** No blocks are written now, because the file system of the index has too little free space. */
export class NoSpaceError extends Error {
  override readonly name = 'NoSpaceError';
}
