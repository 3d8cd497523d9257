import { chmodSync, linkSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';

export interface UnixSocketPath {
  readonly path: string;
  readonly mode: number;
}

class UnixSocketError extends Error {
  override readonly name = 'UnixSocketError';
}

/** Maximum bytes of the path of a Unix socket on all supported systems. */
const MAX_PATH_BYTES = 103;
/** Prefix of the temporary folder's name, to which mkdtemp appends six characters. */
const FOLDER_NAME = '.fg-';
const OWN_NAME = 's';
/** Maximum number of attempts to link the socket. One fails if another process creates a socket at the same path. */
const MAX_ATTEMPTS = 3;

/**
 * Creates a Unix socket in a temporary folder and links it to `path`. So the socket accepts connections and has its
 * permissions as soon as it appears at `path`. Replaces only a stale socket of a dead server, never another file.
 * Returns a function that removes the socket.
 */
export async function listenAtPath(
  { path, mode }: UnixSocketPath,
  listen: (path: string) => Promise<unknown>,
): Promise<() => void> {
  const folder = mkdtempSync(join(dirname(path), FOLDER_NAME));
  try {
    const own = join(folder, OWN_NAME);
    if (!isSocketPath(path))
      throw new UnixSocketError(
        `the path is too long: at most ${MAX_PATH_BYTES} bytes, and at most 90 bytes for its folder`,
      );
    await listen(own);
    chmodSync(own, mode);
    const { ino } = lstatSync(own);
    await putInPlace(own, path, join(folder, 'stale'));
    return () => {
      // Another server may have replaced the socket, and that one must not be removed.
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns whether the path of a Unix socket, and the path at which it is first created, are short enough. */
export function isSocketPath(path: string): boolean {
  const made = join(dirname(path), `${FOLDER_NAME}XXXXXX`, OWN_NAME);
  return Math.max(Buffer.byteLength(made), Buffer.byteLength(path)) <= MAX_PATH_BYTES;
}

async function putInPlace(own: string, path: string, aside: string): Promise<void> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      linkSync(own, path);
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    await removeStale(path, aside);
  }
  throw inUse();
}

/** Removes a stale socket. Throws UnixSocketError, without changes, if the path is another file or a socket in use. */
async function removeStale(path: string, aside: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new UnixSocketError('the path exists and is not a socket');
  if (await hasListener(path)) throw inUse();
  // Another server may have replaced the socket since the check, so the moved file is checked again.
  renameSync(path, aside);
  const isSame = lstatSync(aside).ino === found.ino;
  if (isSame && !(await hasListener(aside))) {
    rmSync(aside);
    return;
  }
  linkSync(aside, path);
  throw inUse();
}

const inUse = (): Error =>
  new UnixSocketError('a running program listens on it, or it belongs to another user');

/** Returns whether a server listens on the socket. Returns true if unclear, so that no socket in use is removed. */
function hasListener(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!('code' in error && error.code === 'ECONNREFUSED')));
  });
}
