import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Two servers on one data folder would each believe to be its only writer. */
class DataDirInUseError extends Error {
  override readonly name = 'DataDirInUseError';
}

/** The data folder cannot be written: it is read-only, full, someone else's, or no folder. */
class DataDirUnusableError extends Error {
  override readonly name = 'DataDirUnusableError';
}

/** A data folder that is this process's own. */
export interface DataDirLock {
  release(): void;
}

/** Who holds a lock: a process id alone may have been given to another process since. */
interface Holder {
  readonly pid: number;
  /** When the process started, as its system counts it; null where the system does not tell. */
  readonly started: string | null;
}

const LOCK_FILE = 'floodgate.lock';
/** Another process may take over a stale lock at the same moment: then look again. */
const MAX_ATTEMPTS = 5;

/**
 * Makes the data folder this process's own until `release`; the folder is made where it is missing. A lock that a
 * killed process left behind is taken over. Throws DataDirInUseError where a running process holds it,
 * DataDirUnusableError where it cannot be written.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const file = join(dataDir, LOCK_FILE);
  const mine = `${file}.${process.pid}`;
  try {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(mine, JSON.stringify({ pid: process.pid, started: startOf(process.pid) } satisfies Holder));
  } catch (error) {
    throw new DataDirUnusableError(
      `the data folder ${dataDir} cannot be written: ${error instanceof Error ? error.message : error}. ` +
        'Check its permissions and the free space, or choose another folder with --data-dir',
    );
  }
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (tryLink(mine, file)) return { release: () => rmSync(file, { force: true }) };
      removeStale(file, dataDir);
    }
  } finally {
    rmSync(mine, { force: true });
  }
  throw new DataDirInUseError(`${dataDir} is being locked by another process; try again`);
}

/** A hard link to a whole file: it appears complete or not at all, and only where there is none. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function removeStale(file: string, dataDir: string): void {
  const holder = readHolder(file);
  if (
    holder !== undefined &&
    holder.pid !== process.pid &&
    startOf(holder.pid) === holder.started &&
    isAlive(holder.pid)
  )
    throw new DataDirInUseError(
      `${dataDir} is in use by another Floodgate, process ${holder.pid}: stop that one, or choose another folder with --data-dir`,
    );
  // Renaming tells two that take over at once apart: one of them finds nothing left to rename.
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder; // only lockDataDir writes it, whole
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
 * Field 22 of /proc/PID/stat, the start time; null where there is no such file, and of a process that has ended to its last thread: it
 * is there until its parent asks how it ended, which not every one does.
 */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name stands in parentheses and may have spaces: fields are counted behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, threads, started = null] = [fields[0], fields[17], fields[19]];
    return state === 'Z' && Number(threads) <= 1 ? null : started;
  } catch {
    return null;
  }
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
