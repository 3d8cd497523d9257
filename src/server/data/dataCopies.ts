import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createFolder, openRegular, readRegular, requireRegular } from '../../platform/regularFile/index.ts';
import {
  copyStore,
  DATA_FILE,
  identityOf,
  requireNoLinkedStores,
  sealStoreFile,
  storeFolders,
} from '../../platform/storeFile/index.ts';
import { lockDataDir, RESTORING } from './dataDirLock.ts';
import { isTraceStore } from './verifyStore.ts';

/** Thrown if a backup cannot be created, restored or verified. The message tells the user what to do. */
class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** File of a backup, next to its stores. */
const MANIFEST = 'backup.json';

interface Manifest {
  /** Time of creation. */
  readonly madeOn: string;
  /** The stores of the backup, by name, with the SHA-256 of their data files. */
  readonly stores: Readonly<Record<string, string>>;
}

/** Follows the manifest in this file when all stores are copied, and are being moved to their names. */
const MOVING = 'moving\n';
/** File of a store that is being verified: the identity of the data file, then the segments that were verified. */
const VERIFIED = 'verified';

/**
 * Verifies the store in a folder and returns its problems. `store` is the name of the store. If `record` is given, what
 * was verified is recorded in this file, so that a second run skips it.
 */
export type Verify = (folder: string, store: string, record?: string) => Promise<readonly string[]>;

/** Beginning of the names of folders with stores that are being copied. */
const UNPACKED = 'restoring-';

const COPY_BYTES = 4 * 1024 * 1024;

/** Copies a consistent snapshot of each store of a data folder, even during writes. Returns the store names. */
export async function backupData(dataDir: string, target: string): Promise<string[]> {
  const stores = storesOf(dataDir);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new BackupError(`${target} is not empty: choose an empty or a new folder`);
  createFolder(target, 0o700);
  for (const store of stores)
    await copyStore(join(dataDir, store), join(target, store)).catch((error: unknown) => {
      if (!(error instanceof Error && error.name === 'Error')) throw error;
      throw new BackupError(
        `cannot copy ${store} into ${target}: ${error.message}. Free space or choose another folder, and remove this incomplete backup`,
      );
    });
  const sums = stores.map((store) => [store, sha256Of(join(target, store, DATA_FILE))] as const);
  const manifest: Manifest = { madeOn: new Date().toISOString(), stores: Object.fromEntries(sums) };
  // The manifest is written last, so a backup without it is incomplete.
  writeFileSync(join(target, MANIFEST), `${JSON.stringify(manifest)}\n`, { mode: 0o600 });
  return stores;
}

/**
 * Restores the stores of a backup into a data folder without stores. Returns the store names. After a kill, the same call
 * continues: it keeps what was copied. Files must have the SHA-256 of the manifest. Small stores are also verified; trace
 * indexes are not, because that takes days, and each of their records has a checksum.
 */
export async function restoreData(backup: string, dataDir: string, verify: Verify): Promise<string[]> {
  requireNoLinkedStores(backup);
  const stores = storeFolders(backup);
  const manifest = lstatSync(join(backup, MANIFEST), { throwIfNoEntry: false });
  if (stores.length === 0 || manifest === undefined)
    throw new BackupError(`${backup} is not a complete backup: it has no ${MANIFEST}`);
  requireRegular(join(backup, MANIFEST), manifest);
  const sums = sumsIn(join(backup, MANIFEST));
  const unlisted = stores.find((store) => sums?.[store] === undefined);
  if (unlisted !== undefined)
    throw new BackupError(
      `${join(backup, MANIFEST)} has no SHA-256 of ${unlisted}: restore the backup with the version of Floodgate that made it`,
    );
  const lock = lockDataDir(dataDir, true);
  try {
    const moved = beginRestore(join(backup, MANIFEST), dataDir);
    // The folder's name must not contain a dot, because lmdb would take it for the name of a file.
    const unpacked = stores
      .filter((store) => !moved.includes(store))
      .map((store) => ({ store, folder: join(dataDir, `${UNPACKED}${store}`) }));
    for (const { store, folder } of unpacked) {
      createFolder(folder, 0o700);
      const sum = copyRegularFile(join(backup, store, DATA_FILE), join(folder, DATA_FILE));
      const problems =
        sum !== sums?.[store]
          ? [`its ${DATA_FILE} does not have the SHA-256 that ${MANIFEST} specifies`]
          : isTraceStore(store)
            ? []
            : await verify(folder, store);
      if (problems.length === 0) continue;
      // The copy may be damaged by a power failure, so the next run makes another one.
      rmSync(folder, { recursive: true });
      throw new BackupError(`${join(backup, store)} is damaged: ${problems.join('; ')}`);
    }
    writeRecord(join(dataDir, RESTORING), readRegular(join(backup, MANIFEST)) + MOVING);
    for (const { store, folder } of unpacked) {
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

/** Returns the SHA-256 of the data file of each store in a backup. */
function sumsIn(manifest: string): Readonly<Record<string, string>> | undefined {
  try {
    return (JSON.parse(readRegular(manifest)) as Partial<Manifest>).stores; // written by backupData
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new BackupError(`${manifest} is damaged: ${error.message}`);
  }
}

/** Replaces a record at once: without the record of a restore, the stores that it has moved would block the next one. */
function writeRecord(path: string, text: string): void {
  const next = `${path}.next`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(next, path);
}

/**
 * Verifies every store of a data folder. Seals each store without problems, so that it may be opened. Returns the
 * problems of each store, by its name. After a kill, the same call skips what was verified.
 */
export async function verifyData(dataDir: string, verify: Verify): Promise<Map<string, readonly string[]>> {
  const stores = storesOf(dataDir);
  const problems = new Map<string, readonly string[]>();
  for (const store of stores) {
    const folder = join(dataDir, store);
    const record = join(folder, VERIFIED);
    if (isTraceStore(store)) beginRecord(record, folder);
    const found = await verify(folder, store, record);
    rmSync(record, { force: true });
    if (found.length === 0) sealStoreFile(folder);
    problems.set(store, found);
  }
  return problems;
}

/** Creates the record of verified segments, unless it exists and belongs to the data file of the store. */
function beginRecord(record: string, folder: string): void {
  const identity = `${JSON.stringify(identityOf(folder))}\n`;
  const isKept =
    lstatSync(record, { throwIfNoEntry: false }) !== undefined && readRegular(record).startsWith(identity);
  if (!isKept) writeRecord(record, identity);
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
 * copy that was interrupted. Returns the SHA-256 of the copy.
 */
function copyRegularFile(from: string, to: string): string {
  const source = openRegular(from);
  try {
    if (lstatSync(to, { throwIfNoEntry: false }) === undefined) closeSync(openSync(to, 'wx', 0o600));
    const target = openSync(to, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      const hash = createHash('sha256');
      let at = 0;
      for (const bytes of piecesOf(target, 0)) {
        hash.update(bytes);
        at += bytes.length;
      }
      for (const bytes of piecesOf(source, at)) {
        hash.update(bytes);
        for (let done = 0; done < bytes.length; )
          done += writeSync(target, bytes, done, bytes.length - done, at + done);
        at += bytes.length;
      }
      fsyncSync(target);
      return hash.digest('hex');
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

function sha256Of(path: string): string {
  const file = openRegular(path);
  try {
    const hash = createHash('sha256');
    for (const bytes of piecesOf(file, 0)) hash.update(bytes);
    return hash.digest('hex');
  } finally {
    closeSync(file);
  }
}

/** Yields the bytes of a file from an offset on. The next piece overwrites the previous one. */
function* piecesOf(file: number, start: number): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  let at = start;
  for (let read = readSync(file, buffer, 0, COPY_BYTES, at); read > 0; ) {
    yield buffer.subarray(0, read);
    at += read;
    read = readSync(file, buffer, 0, COPY_BYTES, at);
  }
}
