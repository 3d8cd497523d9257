import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyStore, DATA_FILE, sealStoreFile, storeFolders } from '../platform/storeFile/index.ts';
import { lockDataDir } from './dataDirLock.ts';

/** A backup cannot be made, restored or verified; the message says what to do. */
class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Beside the stores of a backup: when it was made. */
const MANIFEST = 'backup.json';

/** What is wrong with a store in a folder; `store` says what it is of. */
export type Verify = (folder: string, store: string) => Promise<readonly string[]>;

/** Copies every store of a data folder, each as one state of it, while a server writes to them; gives their names. */
export async function backupData(dataDir: string, target: string): Promise<string[]> {
  const stores = storeFolders(dataDir);
  if (stores.length === 0)
    throw new BackupError(
      `${dataDir} holds no store. Name the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new BackupError(`${target} is not empty: name a folder that is, or a new one`);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const store of stores) await copyStore(join(dataDir, store), join(target, store));
  // Last: a backup without it was broken off.
  const manifest = { madeOn: new Date().toISOString(), stores };
  writeFileSync(join(target, MANIFEST), `${JSON.stringify(manifest)}\n`, { mode: 0o600 });
  return stores;
}

/** Puts the stores of a backup into a data folder that has none, each after it was verified there; gives their names. */
export async function restoreData(backup: string, dataDir: string, verify: Verify): Promise<string[]> {
  const stores = storeFolders(backup);
  if (stores.length === 0 || !existsSync(join(backup, MANIFEST)))
    throw new BackupError(`${backup} is no backup, or one that was broken off: it has no ${MANIFEST}`);
  const lock = lockDataDir(dataDir);
  try {
    // No dot in the name: lmdb would take it for a file.
    const unpacked = stores.map((store) => ({ store, folder: join(dataDir, `restoring-${store}`) }));
    for (const { folder } of unpacked) rmSync(folder, { recursive: true, force: true });
    const held = storeFolders(dataDir);
    if (held.length > 0)
      throw new BackupError(`${dataDir} holds ${held.join(', ')} already: restore into an empty folder`);
    for (const { store, folder } of unpacked) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      copyFileSync(join(backup, store, DATA_FILE), join(folder, DATA_FILE));
      const problems = await verify(folder, store);
      if (problems.length > 0)
        throw new BackupError(`${join(backup, store)} is damaged: ${problems.join('; ')}`);
    }
    for (const { store, folder } of unpacked) {
      sealStoreFile(folder);
      renameSync(folder, join(dataDir, store));
    }
    return stores;
  } finally {
    lock.release();
  }
}

/** Verifies every store of a data folder; those that pass are taken for its own from then on. Gives what is wrong, by store. */
export async function verifyData(dataDir: string, verify: Verify): Promise<Map<string, readonly string[]>> {
  const stores = storeFolders(dataDir);
  if (stores.length === 0)
    throw new BackupError(
      `${dataDir} holds no store. Name the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const problems = new Map<string, readonly string[]>();
  for (const store of stores) {
    const folder = join(dataDir, store);
    const found = await verify(folder, store);
    if (found.length === 0) sealStoreFile(folder);
    problems.set(store, found);
  }
  return problems;
}
