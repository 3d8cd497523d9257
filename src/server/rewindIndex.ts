import { existsSync } from 'node:fs';
import { rewind } from '../ethereum/ingest/index.ts';
import { openTraceStore } from '../ethereum/store/lmdb/traces/index.ts';
import { lockDataDir } from './dataDirLock.ts';
import { IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';

export interface RewindIndexOptions {
  readonly dataDir: string;
  readonly network: string;
  /** What is above is removed. */
  readonly lastBlock: number;
}

/** The index's highest block before and after; undefined for none. */
export interface Rewound {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/**
 * Removes blocks from the head of an index, final ones too: the way out where a node's chain went back further than a real one
 * ever does. The data folder is locked. Rejects with IndexingError where there is no index.
 */
export async function rewindIndex({ dataDir, network, lastBlock }: RewindIndexOptions): Promise<Rewound> {
  const folder = indexFolder(dataDir, network);
  if (!existsSync(folder))
    throw new IndexingError(
      `${dataDir} holds no index of ${network}. Name the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
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
