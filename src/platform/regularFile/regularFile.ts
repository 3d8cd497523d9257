import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs';

/** Flags that open a file without waiting for the writer of a pipe, and fail for a symbolic link. */
export const REGULAR_FILE_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Thrown if a path is not a regular file, or not a folder where one is needed. The message names the path. */
class FileKindError extends Error {
  override readonly name = 'FileKindError';
}

type Kinds = Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>;

export function requireRegular(path: string, stats: Kinds): void {
  if (!stats.isFile()) throw new FileKindError(`${path} is ${kindOf(stats)}; only regular files are allowed`);
}

export function requireFolder(path: string, stats: Kinds): void {
  if (!stats.isDirectory()) throw new FileKindError(`${path} is ${kindOf(stats)}; only folders are allowed`);
}

/**
 * Opens a regular file for reading, and returns its descriptor. Throws for any other kind of file. A link that replaces
 * the file between the check and the opening is not followed.
 */
export function openRegular(path: string): number {
  return openChecked(path, lstatSync(path), REGULAR_FILE_FLAGS);
}

/** Special files that never wait when they are opened: standard input, the pipes of `<(…)`, and the empty file. */
const ALLOWED_SPECIAL = /^\/dev\/(?:stdin|null)$|^\/(?:dev|proc\/self)\/fd\/\d+$/;

/**
 * Opens a file that the operator names for reading, and returns its descriptor: a regular file, a link to one, an
 * open descriptor of this process, or /dev/null. Throws for any other kind of file.
 */
export function openNamed(path: string): number {
  if (ALLOWED_SPECIAL.test(path)) return openSync(path, 'r');
  return openChecked(path, statSync(path), constants.O_RDONLY | constants.O_NONBLOCK);
}

function openChecked(path: string, stats: Stats, flags: number): number {
  // Check the type before opening, because opening a device can have effects.
  requireRegular(path, stats);
  const descriptor = openSync(path, flags);
  try {
    requireRegular(path, fstatSync(descriptor));
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** Returns the text of a regular file. Throws for any other kind of file. */
export function readRegular(path: string): string {
  const descriptor = openRegular(path);
  try {
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function kindOf(stats: Kinds): string {
  if (stats.isFile()) return 'a file';
  if (stats.isDirectory()) return 'a folder';
  if (stats.isSymbolicLink()) return 'a symbolic link';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
}
