import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readRegular, requireFolder, requireRegular } from '../regularFile/index.ts';

/** Name of a store's data file, fixed by LMDB. */
export const DATA_FILE = 'data.mdb';
/** Name of the seal: a file in the folder of the data file that records the identity of the data file. */
const SEAL_FILE = 'store.json';

/** Name of LMDB's table of readers, which LMDB creates and overwrites. */
const READERS_FILE = 'lock.mdb';
/** Folder with an empty LMDB file whose lock openers and writers of the store acquire. */
export const OPENING_LOCK_FOLDER = 'opening-lock';

const UNKNOWN = '0';

/** Identity of a file. A copy of the file has a different identity. */
export interface FileIdentity {
  readonly device: string;
  readonly inode: string;
  /** Creation time in nanoseconds, or UNKNOWN if the system does not report it. */
  readonly born: string;
}

/** Returns the identity of the data file in a store's folder; undefined if there is no data file. */
export function identityOf(folder: string): FileIdentity | undefined {
  const stat = statSync(join(folder, DATA_FILE), { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  // Systems without creation times report the time of the last change instead.
  const born = stat.birthtimeNs === stat.ctimeNs ? UNKNOWN : `${stat.birthtimeNs}`;
  return { device: `${stat.dev}`, inode: `${stat.ino}`, born };
}

/**
 * Returns whether two identities belong to the same file. The device number may change with a restart or remount, so it
 * is compared only if the creation time is unknown.
 */
export function isSameFile(a: FileIdentity, b: FileIdentity): boolean {
  if (a.inode !== b.inode) return false;
  return a.born === UNKNOWN || b.born === UNKNOWN ? a.device === b.device : a.born === b.born;
}

/** Thrown if a store cannot be written, for example because the disk is full. The store is unchanged. */
export class StoreWriteError extends Error {
  override readonly name = 'StoreWriteError';

  constructor(folder: string, cause: Error) {
    super(`the store in ${folder} cannot be written: ${cause.message}. Check the disk and its free space`, {
      cause,
    });
  }
}

/**
 * Atomically writes the seal of a store, which records that the data file is an original and not torn. The seal belongs
 * to the owner of the data file: a command of root must not write a file that the server cannot read. Throws
 * StoreWriteError.
 */
export function sealStoreFile(folder: string): void {
  const identity = identityOf(folder);
  if (identity === undefined) return;
  const written = join(folder, `${SEAL_FILE}.${process.pid}`);
  try {
    rmSync(written, { force: true });
    const { uid, gid } = statSync(join(folder, DATA_FILE));
    // The flag fails for a link that was created in between.
    const file = openSync(written, 'wx', 0o600);
    try {
      writeFileSync(file, `${JSON.stringify(identity)}\n`);
      if (process.getuid?.() === 0) fchownSync(file, uid, gid);
      // Without this, a power failure in the next half minute may leave an empty seal, which matches no file.
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(written, join(folder, SEAL_FILE));
  } catch (error) {
    // The error of a full disk does not name the file.
    throw new StoreWriteError(folder, error as Error); // functions of node:fs throw nothing else
  }
}

/** Returns the identity in a store's seal; undefined if there is no seal. An unreadable seal matches no file. */
export function sealOf(folder: string): FileIdentity | undefined {
  const file = join(folder, SEAL_FILE);
  if (!existsSync(file)) return undefined;
  const { device, inode, born } = parsed(readRegular(file));
  return { device: String(device), inode: String(inode), born: String(born) };
}

function parsed(text: string): { device?: unknown; inode?: unknown; born?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as object; // any JSON value may be read as an object
  } catch {
    return {};
  }
}

/**
 * Checks the files of a store that LMDB opens by their paths, also those that LMDB writes to. Throws if one of them is
 * not a regular file: LMDB would follow a link, and wait for the writer of a pipe.
 */
export function requireRegularStore(folder: string): void {
  const lockFolder = join(folder, OPENING_LOCK_FOLDER);
  const lock = statsOf(lockFolder);
  if (lock !== undefined) requireFolder(lockFolder, lock);
  for (const path of [folder, lockFolder])
    for (const name of [DATA_FILE, READERS_FILE, SEAL_FILE]) {
      const stats = statsOf(join(path, name));
      if (stats !== undefined) requireRegular(join(path, name), stats);
    }
}

/** Returns the names of the folders of stores in a data folder. Links to folders are not included. */
export function storeFolders(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && statsOf(join(dataDir, entry.name, DATA_FILE)) !== undefined)
    .map(({ name }) => name)
    .sort();
}

/** Throws if a store of a data folder is a symbolic link to a folder, because it would be omitted. */
export function requireNoLinkedStores(dataDir: string): void {
  for (const entry of existsSync(dataDir) ? readdirSync(dataDir, { withFileTypes: true }) : []) {
    const path = join(dataDir, entry.name);
    if (entry.isSymbolicLink() && existsSync(join(path, DATA_FILE))) requireFolder(path, entry);
  }
}

const statsOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });
