import { chmodSync, linkSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';

/** A Unix socket and who may connect to it: the permissions of its file. */
export interface UnixSocketPath {
  readonly path: string;
  readonly mode: number;
}

/** A Unix socket cannot be made at its path; the message says why. */
class UnixSocketError extends Error {
  override readonly name = 'UnixSocketError';
}

/** What every system takes for the address of a socket. */
const MAX_PATH_BYTES = 103;
/** Of the folder that a socket is made in; six characters are added to it. */
const FOLDER_NAME = '.fg-';
const OWN_NAME = 's';
/** Others may put theirs at the path at the same moment: then look again. */
const MAX_ATTEMPTS = 3;

/**
 * Has a server listen in a folder that is its own, then puts the socket at its path: whoever finds it there finds it with its
 * permissions, and answering. What a killed server left at the path is replaced; nothing else ever is. Returns what removes it.
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
        `the path is too long: the folder and the name have ${MAX_PATH_BYTES} bytes at most, a folder of it alone 90`,
      );
    await listen(own);
    chmodSync(own, mode);
    const { ino } = lstatSync(own);
    await putInPlace(own, path, join(folder, 'stale'));
    return () => {
      // Somebody may have put another there.
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true });
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a socket can be made at a path: neither that nor where it is made is too long. */
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

/** Removes a socket that nobody listens on any more. Throws UnixSocketError, with all left as it is, where something else is there. */
async function removeStale(path: string, aside: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new UnixSocketError('something is there that is no socket');
  if (await isListenedOn(path)) throw inUse();
  // Another server may have replaced it since: what was moved is looked at again, and put back where it is that one's.
  renameSync(path, aside);
  const isSame = lstatSync(aside).ino === found.ino;
  if (isSame && !(await isListenedOn(aside))) {
    rmSync(aside);
    return;
  }
  linkSync(aside, path);
  throw inUse();
}

const inUse = (): Error =>
  new UnixSocketError('a running program listens there, or one of another user has listened');

/** What cannot be told is taken for yes: nobody's socket is removed on a guess. */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!('code' in error && error.code === 'ECONNREFUSED')));
  });
}
