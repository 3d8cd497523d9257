import { existsSync } from 'node:fs';
import { openTraceStore } from '../../ethereum/store/lmdb/traces/index.ts';
import { segmentOf } from '../../ethereum/traces/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';
import { openNodes } from '../ethereum/openNodes.ts';
import { type FillIndexOptions, fillFrom, finalBlockOf, IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';
import { retryAll } from './retryUnavailable.ts';

export interface IndexAgainOptions extends FillIndexOptions {
  readonly toBlock: number;
}

/**
 * Checks the blocks of a range in the index of a data folder, derives their posting lists again, and fetches damaged and
 * missing blocks from the nodes. Locks the data folder. Rejects with IndexingError or store errors.
 */
export async function indexAgain(options: IndexAgainOptions): Promise<{ complete: boolean }> {
  const { dataDir, network, upstream, traceLimits, fromBlock, signal, progress } = options;
  const folder = indexFolder(dataDir, network);
  if (!existsSync(folder))
    throw new IndexingError(
      `no index of ${network} in ${dataDir}: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const lock = lockDataDir(dataDir);
  const store = openTraceStore(folder);
  try {
    const trouble = (message: string): void => progress.trouble(message);
    await store.repair?.();
    const nodes = await openNodes(
      upstream,
      { chain: await store.chain(), traceLimits },
      (_, what, { message }) => trouble(`${what}: ${message}`),
    );
    try {
      const head = (await store.head())?.number ?? -1;
      const toBlock = Math.min(options.toBlock, head, await finalBlockOf(nodes.source));
      for (let segment = segmentOf(fromBlock); segment <= segmentOf(toBlock) && !signal.aborted; segment++) {
        store.noteDamage?.([{ kind: 'segment', segment, isRebuilt: true }]);
        const repair = await store.repair?.();
        for (const failure of repair?.failures ?? []) throw new IndexingError(failure);
        for (const number of repair?.unavailable ?? []) trouble(`block ${number} is damaged`);
        for (const number of repair?.removed ?? []) trouble(`block ${number} is damaged: removed`);
        // Merges the posting lists to disk before those of the next segment are derived.
        await store.apply({ blocks: [] });
      }
      await retryAll(store, nodes.source, { signal, trouble });
      return fromBlock > toBlock
        ? { complete: true }
        : await fillFrom(nodes.source, store, { fromBlock, toBlock, signal, progress });
    } finally {
      await nodes.close();
    }
  } finally {
    await store.close();
    lock.release();
  }
}
