import { retryBlock } from '../../ethereum/ingest/index.ts';
import { type IndexTraceLimits, NodeError, type TraceProvider } from '../../ethereum/nodes/index.ts';
import type { TraceStore, UnavailableBlock } from '../../ethereum/traces/index.ts';
import { openNodes } from '../ethereum/openNodes.ts';
import { IndexingError } from './fillIndex.ts';
import { type SharedTargetOptions, withSharedTarget } from './sharedTarget.ts';
import { withIndex } from './withIndex.ts';

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
  const { stores, upstream, traceLimits, trouble } = options;
  if (stores !== undefined)
    return withSharedTarget({ ...options, ...stores }, ({ target, source }) =>
      retryAll(target, source, options),
    );
  return withIndex(options, async (store) => {
    const nodes = await openNodes(
      upstream,
      { chain: await store.chain(), traceLimits },
      (_, what, { message }) => trouble(`${what}: ${message}`),
    );
    return await retryAll(store, nodes.source, options).finally(() => nodes.close());
  });
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
