import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where LMDB keeps everything, in a store's folder. */
export const DATA_FILE = 'data.mdb';
/** Beside it: which file that was. */
const SEAL_FILE = 'store.json';

const UNTOLD = '0';

/** What tells a file from a copy of it. */
export interface FileIdentity {
  readonly device: string;
  readonly inode: string;
  /** When it was made, in nanoseconds; UNTOLD where the system does not tell. */
  readonly born: string;
}

/** What the file in a store's folder is now; undefined where there is none. */
export function identityOf(folder: string): FileIdentity | undefined {
  const stat = statSync(join(folder, DATA_FILE), { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  // Systems that do not know when a file was made give the time of its last change.
  const born = stat.birthtimeNs === stat.ctimeNs ? UNTOLD : `${stat.birthtimeNs}`;
  return { device: `${stat.dev}`, inode: `${stat.ino}`, born };
}

/**
 * Whether both are one file. A device has another number after a restart, or where a volume is mounted anew: it is compared
 * only where the system does not tell when a file was made.
 */
export function isSameFile(a: FileIdentity, b: FileIdentity): boolean {
  if (a.inode !== b.inode) return false;
  return a.born === UNTOLD || b.born === UNTOLD ? a.device === b.device : a.born === b.born;
}

/** Remembers that the file in the folder is the store's own, and whole. Written as one, or not at all. */
export function sealStoreFile(folder: string): void {
  const identity = identityOf(folder);
  if (identity === undefined) return;
  const written = join(folder, `${SEAL_FILE}.${process.pid}`);
  writeFileSync(written, `${JSON.stringify(identity)}\n`, { mode: 0o600 });
  renameSync(written, join(folder, SEAL_FILE));
}

/** What was remembered; undefined where nothing was. What cannot be read is no file's. */
export function sealOf(folder: string): FileIdentity | undefined {
  const file = join(folder, SEAL_FILE);
  if (!existsSync(file)) return undefined;
  const { device, inode, born } = parsed(readFileSync(file, 'utf8'));
  return { device: String(device), inode: String(inode), born: String(born) };
}

function parsed(text: string): { device?: unknown; inode?: unknown; born?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as object; // any JSON value has members, or none
  } catch {
    return {};
  }
}

/** The names of the folders in a data folder that hold a store. */
export function storeFolders(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(dataDir, entry.name, DATA_FILE)))
    .map(({ name }) => name)
    .sort();
}
