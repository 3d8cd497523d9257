import { existsSync } from 'node:fs';
import { retryBlock } from '../../ethereum/ingest/index.ts';
import { type IndexTraceLimits, NodeError } from '../../ethereum/nodes/index.ts';
import { openTraceStore } from '../../ethereum/store/lmdb/traces/index.ts';
import type { TraceStore, UnavailableBlock } from '../../ethereum/traces/index.ts';
import { QUIET } from '../../platform/logging/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';
import { openNodes } from '../ethereum/openNodes.ts';
import { IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';
import { openSharedIndex, type SharedIndexOptions } from './openIndex.ts';

export interface RetryUnavailableOptions {
  readonly dataDir: string;
  readonly network: string;
  readonly upstream: readonly string[];
  readonly traceLimits: IndexTraceLimits;
  /** The index that instances share. Default: the index in the data folder, which is locked during the work. */
  readonly stores?: Pick<SharedIndexOptions, 'traceStore' | 'traceStorePostgres' | 'rules'> | undefined;
  readonly signal: AbortSignal;
  readonly trouble: (message: string) => void;
}

export interface RetriedBlocks {
  readonly indexed: number;
  readonly unavailable: readonly UnavailableBlock[];
}

/** Requests each unavailable block of an index from the nodes again. Rejects with IndexingError or store errors. */
export async function retryUnavailable(options: RetryUnavailableOptions): Promise<RetriedBlocks> {
  const { dataDir, network, stores } = options;
  if (stores !== undefined)
    return closing(await openSharedIndex(stores, { network, logger: QUIET }), (store) =>
      retryAll(store, options),
    );
  const folder = indexFolder(dataDir, network);
  if (!existsSync(folder))
    throw new IndexingError(
      `no index of ${network} in ${dataDir}: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const lock = lockDataDir(dataDir);
  try {
    return await closing(openTraceStore(folder), (store) => retryAll(store, options));
  } finally {
    lock.release();
  }
}

async function closing<T>(store: TraceStore, use: (store: TraceStore) => Promise<T>): Promise<T> {
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function retryAll(
  store: TraceStore,
  { upstream, traceLimits, signal, trouble }: RetryUnavailableOptions,
): Promise<RetriedBlocks> {
  const list = () => store.unavailable(0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const chain = await store.chain();
  const nodes = await openNodes(upstream, { chain, traceLimits }, (_, what, { message }) =>
    trouble(`${what}: ${message}`),
  );
  try {
    await store.bindChain(await nodes.source.chain());
    let indexed = 0;
    for (const block of await list()) {
      if (signal.aborted) break;
      const outcome = await retryBlock(block, {
        ...{ store, source: nodes.source },
        runExclusive: (write) => write(),
        write: (change) => store.apply(change),
      }).catch((error: unknown) => {
        if (!(error instanceof NodeError)) throw error;
        trouble(`block ${block.number}: ${error.message}`);
        return 'unavailable' as const;
      });
      if (outcome === 'indexed') indexed++;
      if (outcome === 'replaced')
        trouble(`block ${block.number}: the nodes have another block of this number`);
    }
    return { indexed, unavailable: await list() };
  } catch (error) {
    throw error instanceof NodeError ? new IndexingError(`no usable node: ${error.message}`) : error;
  } finally {
    await nodes.close();
  }
}
