import { existsSync } from 'node:fs';
import { rewind } from '../../ethereum/ingest/index.ts';
import { openTraceStore } from '../../ethereum/store/lmdb/traces/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';
import { IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';

export interface RewindIndexOptions {
  readonly dataDir: string;
  readonly network: string;
  /** Blocks above this number are removed. */
  readonly lastBlock: number;
}

/** Highest block of the index before and after the change; undefined if the index was empty at that time. */
export interface Rewound {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/**
 * Removes the newest blocks of an index, even final ones. Needed if the chain of a node was reset to below a final
 * block, which does not happen on a public chain. Locks the data folder. Rejects with IndexingError if there is no
 * index.
 */
export async function rewindIndex({ dataDir, network, lastBlock }: RewindIndexOptions): Promise<Rewound> {
  const folder = indexFolder(dataDir, network);
  if (!existsSync(folder))
    throw new IndexingError(
      `no index of ${network} in ${dataDir}: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const lock = lockDataDir(dataDir);
  try {
    const store = openTraceStore(folder);
    try {
      const from = (await store.head())?.number;
      await rewind(store, { undoFrom: lastBlock + 1, undoFinal: true });
      return { from, to: (await store.head())?.number };
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
}
