import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILE, storeFolders } from '../../platform/storeFile/index.ts';

/** Returns the file size of each store in bytes, by the name of the store. */
export function storeBytes(dataDir: string): Readonly<Record<string, number>> {
  const bytesOf = (store: string): number =>
    statSync(join(dataDir, store, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0;
  return Object.fromEntries(storeFolders(dataDir).map((store) => [store, bytesOf(store)]));
}
