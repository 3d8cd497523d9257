import { existsSync, lstatSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder, readRegular } from '../../platform/regularFile/index.ts';

/** Thrown if another process uses the data folder. Two servers must never write to the same folder. */
class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';
}

/** Thrown if the data folder cannot be used: it is not writable, not a folder, or a restore into it is unfinished. */
class DataDirUnusableError extends Error {
  override readonly name = 'DataDirUnusableError';
}

export interface DataDirLock {
  release(): void;
}

/** The process that owns a lock. Its process id alone does not identify it, because the system may reuse the id. */
interface LockOwner {
  readonly pid: number;
  /** Start time of the process, as the system states it; null if unknown. */
  readonly started: string | null;
}

const LOCK_FILE = 'floodgate.lock';
/** File of a data folder with the manifest of the backup that is being restored. */
export const RESTORING = 'restoring.json';
/** Maximum number of attempts to lock. One fails if another process takes over a stale lock at the same time. */
const MAX_ATTEMPTS = 5;

/**
 * Locks a data folder, which is created if missing, until `release`. Takes over the lock of a killed process. Throws
 * DataDirInUseError if a running process owns the lock, DataDirUnusableError if the folder cannot be written, or if
 * stores of a backup are missing in it. `restores`: whether the caller restores them.
 */
export function lockDataDir(dataDir: string, restores = false): DataDirLock {
  const file = join(dataDir, LOCK_FILE);
  try {
    createFolder(dataDir);
  } catch (error) {
    throw unusable(dataDir, error);
  }
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (tryLock(dataDir, file)) {
      const release = (): void => removeLock(file);
      if (restores || !existsSync(join(dataDir, RESTORING))) return { release };
      release();
      throw new DataDirUnusableError(
        `${dataDir} contains an unfinished restore: run the same \`floodgate restore\` again, or use another folder`,
      );
    }
    removeStale(file, dataDir);
  }
  throw new DataDirInUseError(`${dataDir} is being locked by another process; try again`);
}

/**
 * Creates the lock, a symbolic link whose target is the text of the owner. File systems store a short target without a
 * data block, so that a server also starts on a full disk. Returns false if the lock exists.
 */
function tryLock(dataDir: string, file: string): boolean {
  const owner: LockOwner = { pid: process.pid, started: startOf(process.pid) };
  try {
    symlinkSync(JSON.stringify(owner), file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw unusable(dataDir, error);
  }
}

function removeLock(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The folder is read-only. The next start takes over the lock of an ended process.
  }
}

const unusable = (dataDir: string, error: unknown): DataDirUnusableError =>
  new DataDirUnusableError(
    `the data folder ${dataDir} cannot be written: ${error instanceof Error ? error.message : error}. ` +
      'Check its permissions and the free space, or choose another folder with --data-dir',
  );

function removeStale(file: string, dataDir: string): void {
  const holder = readHolder(file);
  if (
    holder !== undefined &&
    holder.pid !== process.pid &&
    startOf(holder.pid) === holder.started &&
    isAlive(holder.pid)
  )
    throw new DataDirInUseError(
      `${dataDir} is in use by another Floodgate, process ${holder.pid}: stop it, or choose another folder with --data-dir`,
    );
  // If two processes take over the lock at once, only one of them can rename the file.
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function readHolder(file: string): LockOwner | undefined {
  try {
    // Programs before November 2026 created a regular file, and may still be running.
    const owner = lstatSync(file).isSymbolicLink() ? readlinkSync(file) : readRegular(file);
    return JSON.parse(owner) as LockOwner; // only lockDataDir creates the lock
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * Returns the start time of a process (field 22 of /proc/PID/stat); null if there is no such file. Also returns null
 * for a zombie, a process that has ended but whose parent has not waited for it; not every parent does.
 */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program name is in parentheses and may contain spaces, so fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, threads, started = null] = [fields[0], fields[17], fields[19]];
    return state === 'Z' && Number(threads) <= 1 ? null : started;
  } catch {
    return null;
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
