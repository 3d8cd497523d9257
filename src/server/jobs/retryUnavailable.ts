import { retryBlock } from '../../ethereum/ingest/index.ts';
import {
  type BlockSource,
  type IndexTraceLimits,
  NodeError,
  type TraceProvider,
} from '../../ethereum/nodes/index.ts';
import type { TraceStore, UnavailableBlock } from '../../ethereum/traces/index.ts';
import { withNodes } from '../ethereum/withNodes.ts';
import { type SharedTargetOptions, withSharedTarget } from './sharedTarget.ts';
import { type IndexLocation, withIndex } from './withIndex.ts';

export interface RetryUnavailableOptions extends IndexLocation {
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
  const { stores } = options;
  if (stores !== undefined)
    return withSharedTarget({ ...options, ...stores }, ({ target, source }) =>
      retryAll(target, source, options),
    );
  return withIndex(options, async (store) =>
    withNodes({ ...options, chain: await store.chain() }, (source) => retryAll(store, source, options)),
  );
}

/** Requests each unavailable block of an index from the nodes again. Rejects with NodeError or store errors. */
export async function retryAll(
  store: Pick<TraceStore, 'bindChain' | 'block' | 'unavailable' | 'apply'>,
  source: TraceProvider | BlockSource,
  { signal, trouble }: Pick<RetryUnavailableOptions, 'signal' | 'trouble'>,
): Promise<RetriedBlocks> {
  const list = () => store.unavailable(0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  await store.bindChain(await source.chain());
  let indexed = 0;
  for (const block of await list()) {
    if (signal.aborted) break;
    const outcome = await retryBlock(block, {
      store,
      source,
      runExclusive: (write) => write(),
      write: (change) => store.apply(change),
    }).catch((error: unknown) => {
      if (!(error instanceof NodeError)) throw error;
      trouble(`block ${block.number}: ${error.message}`);
      return 'unavailable' as const;
    });
    if (outcome === 'indexed') indexed++;
    if (outcome === 'replaced') trouble(`block ${block.number}: the nodes have another block of this number`);
  }
  return { indexed, unavailable: await list() };
}
