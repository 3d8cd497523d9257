import { existsSync } from 'node:fs';
import { openTraceStore } from '../../ethereum/store/lmdb/traces/index.ts';
import type { TraceStore } from '../../ethereum/traces/index.ts';
import { QUIET } from '../../platform/logging/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';
import { FreeSpace } from '../health/freeSpace.ts';
import { indexFolder } from './indexFolder.ts';

/** Thrown if blocks cannot be indexed, or if there is no index to change. The message contains the remedy. */
export class IndexingError extends Error {
  override readonly name = 'IndexingError';
}

/** Returns why no blocks may be written now, as text; undefined if they may. */
export type NoSpace = () => string | undefined;

export interface IndexLocation {
  readonly dataDir: string;
  readonly network: string;
}

/**
 * Opens the index of a network in a data folder, and returns the result of `work`. Locks the data folder until then.
 * A missing index is created with `create`; otherwise rejects with IndexingError.
 */
export async function withIndex<T>(
  { dataDir, network }: IndexLocation,
  work: (store: TraceStore, noSpace: NoSpace) => Promise<T>,
  { create = false } = {},
): Promise<T> {
  const folder = indexFolder(dataDir, network);
  if (!create && !existsSync(folder))
    throw new IndexingError(
      `no index of ${network} in ${dataDir}: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const lock = lockDataDir(dataDir);
  const freeSpace = new FreeSpace({ dataDir, log: QUIET });
  const noSpace = (): string | undefined => (freeSpace.allows('traces') ? undefined : freeSpace.problem);
  try {
    const store = openTraceStore(folder);
    return await work(store, noSpace).finally(() => store.close());
  } finally {
    freeSpace.stop();
    lock.release();
  }
}
