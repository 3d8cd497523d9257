import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { openRegular, requireRegular } from '../../platform/regularFile/index.ts';
import {
  copyStore,
  DATA_FILE,
  requireNoLinkedStores,
  sealStoreFile,
  storeFolders,
} from '../../platform/storeFile/index.ts';
import { lockDataDir } from './dataDirLock.ts';

/** Thrown if a backup cannot be created, restored or verified. The message tells the user what to do. */
class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** File of a backup, next to its stores, that contains the creation time and the names of the stores. */
const MANIFEST = 'backup.json';

/** File of a data folder with the manifest of the backup that is being restored. */
const RESTORING = 'restoring.json';
/** Follows the manifest in this file when all stores are verified, and are being moved to their names. */
const MOVING = 'moving\n';
/** File of a store that is being restored, with the segments that were verified. */
const VERIFIED = 'verified';

/**
 * Verifies the store in a folder and returns its problems. `store` is the name of the store. If `record` is given, what
 * was verified is recorded in this file, so that a second run skips it.
 */
export type Verify = (folder: string, store: string, record?: string) => Promise<readonly string[]>;

/** Beginning of the names of folders with stores that are not verified yet. */
const UNPACKED = 'restoring-';

const COPY_BYTES = 4 * 1024 * 1024;

/** Copies a consistent snapshot of each store of a data folder, even during writes. Returns the store names. */
export async function backupData(dataDir: string, target: string): Promise<string[]> {
  const stores = storesOf(dataDir);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new BackupError(`${target} is not empty: choose an empty or a new folder`);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const store of stores) await copyStore(join(dataDir, store), join(target, store));
  // The manifest is written last, so a backup without it is incomplete.
  const manifest = { madeOn: new Date().toISOString(), stores };
  writeFileSync(join(target, MANIFEST), `${JSON.stringify(manifest)}\n`, { mode: 0o600 });
  return stores;
}

/**
 * Verifies the stores of a backup and restores them into a data folder without stores. Returns the store names. After a
 * kill, the same call continues: it keeps what was copied and verified.
 */
export async function restoreData(backup: string, dataDir: string, verify: Verify): Promise<string[]> {
  requireNoLinkedStores(backup);
  const stores = storeFolders(backup);
  const manifest = lstatSync(join(backup, MANIFEST), { throwIfNoEntry: false });
  if (stores.length === 0 || manifest === undefined)
    throw new BackupError(`${backup} is not a complete backup: it has no ${MANIFEST}`);
  requireRegular(join(backup, MANIFEST), manifest);
  const lock = lockDataDir(dataDir);
  try {
    const moved = beginRestore(join(backup, MANIFEST), dataDir);
    // The folder's name must not contain a dot, because lmdb would take it for the name of a file.
    const unpacked = stores
      .filter((store) => !moved.includes(store))
      .map((store) => ({ store, folder: join(dataDir, `${UNPACKED}${store}`) }));
    for (const { store, folder } of unpacked) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      copyRegularFile(join(backup, store, DATA_FILE), join(folder, DATA_FILE));
      const problems = await verify(folder, store, join(folder, VERIFIED));
      if (problems.length === 0) continue;
      // The copy may be damaged by a power failure, so the next run makes another one.
      rmSync(folder, { recursive: true });
      throw new BackupError(`${join(backup, store)} is damaged: ${problems.join('; ')}`);
    }
    writeRecord(join(dataDir, RESTORING), readRegular(join(backup, MANIFEST)) + MOVING);
    for (const { store, folder } of unpacked) {
      rmSync(join(folder, VERIFIED), { force: true });
      sealStoreFile(folder);
      renameSync(folder, join(dataDir, store));
    }
    rmSync(join(dataDir, RESTORING));
    return stores;
  } finally {
    lock.release();
  }
}

/**
 * Records which backup is being restored. Returns the stores that an interrupted restore of the same backup has moved
 * already. Removes the copies of another backup. Throws BackupError if the data folder has other stores.
 */
function beginRestore(manifest: string, dataDir: string): readonly string[] {
  const record = join(dataDir, RESTORING);
  const text = readRegular(manifest);
  const recorded = lstatSync(record, { throwIfNoEntry: false }) && readRegular(record);
  const folders = storeFolders(dataDir);
  const held = folders.filter((name) => !name.startsWith(UNPACKED));
  // A store that was not moved here was created by a server that ran after the interruption.
  const isMoved = (store: string): boolean =>
    recorded === text + MOVING && !folders.includes(`${UNPACKED}${store}`);
  const others = held.filter((store) => !isMoved(store));
  if (others.length > 0)
    throw new BackupError(`${dataDir} already contains ${others.join(', ')}: restore into an empty folder`);
  if (recorded === text || recorded === text + MOVING) return held;
  for (const name of readdirSync(dataDir))
    if (name.startsWith(UNPACKED)) rmSync(join(dataDir, name), { recursive: true });
  writeRecord(record, text);
  return [];
}

function writeRecord(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
}

function readRegular(path: string): string {
  const file = openRegular(path);
  try {
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/**
 * Verifies every store of a data folder. Seals each store without problems, so that it may be opened. Returns the
 * problems of each store, by its name.
 */
export async function verifyData(dataDir: string, verify: Verify): Promise<Map<string, readonly string[]>> {
  const stores = storesOf(dataDir);
  const problems = new Map<string, readonly string[]>();
  for (const store of stores) {
    const folder = join(dataDir, store);
    const found = await verify(folder, store);
    if (found.length === 0) sealStoreFile(folder);
    problems.set(store, found);
  }
  return problems;
}

/** Returns the names of the stores of a data folder. Throws BackupError if there are none. */
function storesOf(dataDir: string): string[] {
  requireNoLinkedStores(dataDir);
  const stores = storeFolders(dataDir);
  if (stores.length > 0) return stores;
  throw new BackupError(
    `${dataDir} contains no store: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
  );
}

/**
 * Copies a file from its descriptor, because the path may have become a link or a pipe after it was checked. Continues a
 * copy that was interrupted.
 */
function copyRegularFile(from: string, to: string): void {
  const source = openRegular(from);
  try {
    if (lstatSync(to, { throwIfNoEntry: false }) === undefined) closeSync(openSync(to, 'wx', 0o600));
    const target = openSync(to, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      const buffer = Buffer.allocUnsafe(COPY_BYTES);
      let at = fstatSync(target).size;
      for (let read = readSync(source, buffer, 0, COPY_BYTES, at); read > 0; ) {
        for (let done = 0; done < read; ) done += writeSync(target, buffer, done, read - done, at + done);
        at += read;
        read = readSync(source, buffer, 0, COPY_BYTES, at);
      }
      // Only what is on disk may be recorded as verified.
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}
