import { existsSync } from 'node:fs';
import { retryBlock } from '../../ethereum/ingest/index.ts';
import { type IndexTraceLimits, NodeError, type TraceProvider } from '../../ethereum/nodes/index.ts';
import { openTraceStore } from '../../ethereum/store/lmdb/traces/index.ts';
import type { TraceStore, UnavailableBlock } from '../../ethereum/traces/index.ts';
import { lockDataDir } from '../data/dataDirLock.ts';
import { openNodes } from '../ethereum/openNodes.ts';
import { IndexingError } from './fillIndex.ts';
import { indexFolder } from './indexFolder.ts';
import { type SharedTargetOptions, withSharedTarget } from './sharedTarget.ts';

export interface RetryUnavailableOptions {
  readonly dataDir: string;
  readonly network: string;
  readonly upstream: readonly string[];
  readonly traceLimits: IndexTraceLimits;
  /** The index that instances share. Default: the index in the data folder, which is locked during the work. */
  readonly stores?: Pick<SharedTargetOptions, 'traceStore'> | undefined;
  readonly signal: AbortSignal;
  readonly trouble: (message: string) => void;
}

export interface RetriedBlocks {
  readonly indexed: number;
  readonly unavailable: readonly UnavailableBlock[];
}

/** Requests each unavailable block of an index from the nodes again. Rejects with IndexingError or store errors. */
export async function retryUnavailable(options: RetryUnavailableOptions): Promise<RetriedBlocks> {
  const { dataDir, network, stores, upstream, traceLimits, trouble } = options;
  if (stores !== undefined)
    return withSharedTarget({ ...options, ...stores }, ({ target, source }) =>
      retryAll(target, source, options),
    );
  const folder = indexFolder(dataDir, network);
  if (!existsSync(folder))
    throw new IndexingError(
      `no index of ${network} in ${dataDir}: set the server's data folder with --data-dir or FLOODGATE_DATA_DIR`,
    );
  const lock = lockDataDir(dataDir);
  const store = openTraceStore(folder);
  try {
    const nodes = await openNodes(
      upstream,
      { chain: await store.chain(), traceLimits },
      (_, what, { message }) => trouble(`${what}: ${message}`),
    );
    return await retryAll(store, nodes.source, options).finally(() => nodes.close());
  } finally {
    await store.close();
    lock.release();
  }
}

/** Requests each unavailable block of an index from the nodes again. Rejects with IndexingError or store errors. */
export async function retryAll(
  store: Pick<TraceStore, 'bindChain' | 'block' | 'unavailable' | 'apply'>,
  source: TraceProvider,
  { signal, trouble }: Pick<RetryUnavailableOptions, 'signal' | 'trouble'>,
): Promise<RetriedBlocks> {
  const list = () => store.unavailable(0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  try {
    await store.bindChain(await source.chain());
    let indexed = 0;
    for (const block of await list()) {
      if (signal.aborted) break;
      const outcome = await retryBlock(block, {
        ...{ store, source },
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
  }
}
