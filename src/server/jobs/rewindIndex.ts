import { rewind } from '../../ethereum/ingest/index.ts';
import { withIndex } from './withIndex.ts';

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
export const rewindIndex = ({ lastBlock, ...index }: RewindIndexOptions): Promise<Rewound> =>
  withIndex(index, async (store) => {
    const from = (await store.head())?.number;
    await rewind(store, { undoFrom: lastBlock + 1, undoFinal: true });
    return { from, to: (await store.head())?.number };
  });
