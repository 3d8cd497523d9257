import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { StoreFile } from './storeFile.ts';
import { DATA_FILE, sealStoreFile } from './storeSeal.ts';

/** Limit of named databases, above that of any store: one for each trace dictionary, and a few others. */
const MAX_DATABASES = 2_100;

/** Copies a consistent snapshot of a store, even during writes. The copy is flushed to disk and sealed. */
export async function copyStore(folder: string, target: string): Promise<void> {
  const source = new StoreFile(folder, { isVerified: true });
  const root = source.withOpen(() => open({ path: folder, maxDbs: MAX_DATABASES, readOnly: true }));
  try {
    mkdirSync(target, { recursive: true, mode: 0o700 });
    await root.backup(target, false);
  } finally {
    await source.close(root);
  }
  const file = openSync(join(target, DATA_FILE), 'r+');
  fsyncSync(file);
  closeSync(file);
  sealStoreFile(target);
}

/** Ranges of keys of a database to read; undefined for all keys. */
export type KeyRanges = (database: string) => Iterable<{ start: Buffer; end: Buffer }> | undefined;

/** Reads records of a store, by default all, and resolves with their number. Reading a torn store may crash the process. */
export async function readAllRecords(folder: string, rangesOf: KeyRanges = () => undefined): Promise<number> {
  const file = new StoreFile(folder, { isVerified: true });
  const root = file.withOpen(() =>
    open<Buffer, Buffer>({
      path: folder,
      maxDbs: MAX_DATABASES,
      readOnly: true,
      keyEncoding: 'binary',
      encoding: 'binary',
    }),
  );
  try {
    let records = 0;
    for (const key of [...root.getKeys()]) {
      const name = Buffer.from(key).toString();
      const database = root.openDB<Buffer, Buffer>({ name, keyEncoding: 'binary', encoding: 'binary' });
      root.resetReadTxn();
      for (const range of rangesOf(name.replace('\0', '')) ?? [{}])
        for (const { value } of database.getRange(range)) records += value.length >= 0 ? 1 : 0;
    }
    return records;
  } finally {
    await file.close(root);
  }
}
