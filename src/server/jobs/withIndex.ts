import { existsSync } from 'node:fs';
import { openTraceStore } from '../../ethereum/store/lmdb/traces/index.ts';
import type { TraceStore } from '../../ethereum/traces/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';
import { IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';

/**
 * Opens the index of a network in a data folder, and returns the result of `work`. Locks the data folder until then.
 * Rejects with IndexingError if there is no index.
 */
export async function withIndex<T>(
  { dataDir, network }: { readonly dataDir: string; readonly network: string },
  work: (store: TraceStore) => Promise<T>,
): Promise<T> {
  const folder = indexFolder(dataDir, network);
  if (!existsSync(folder))
    throw new IndexingError(
      `no index of ${network} in ${dataDir}: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const lock = lockDataDir(dataDir);
  try {
    const store = openTraceStore(folder);
    return await work(store).finally(() => store.close());
  } finally {
    lock.release();
  }
}
