import { type Config, ConfigError } from '../../config/index.ts';
import type { TraceStoreOptions } from '../../ethereum/store/lmdb/traces/index.ts';
import type { CombinedTraceStore, SharedTraces } from '../../ethereum/store/shared/index.ts';
import {
  type EmbeddedTraceStore,
  IndexUnavailableError,
  type MaybePromise,
  type TraceStore,
} from '../../ethereum/traces/index.ts';
import { indexFolder } from './indexFolder.ts';

/** The trace index of a network. */
export interface OpenedIndex {
  readonly store: TraceStore;
  /** The same store, if older blocks are in the index that servers share. */
  readonly combined?: CombinedTraceStore;
}

export interface OpenIndexDependencies {
  readonly openTraceStore: (folder: string, options: TraceStoreOptions) => MaybePromise<EmbeddedTraceStore>;
  readonly shared: SharedTraces | undefined;
}

/** Opens the index of a network in the data folder, joined with the one that servers share. */
export async function openIndex(
  config: Pick<Config, 'dataDir' | 'index' | 'traceStoreRecentBlocks'>,
  network: string,
  { openTraceStore, shared }: OpenIndexDependencies,
): Promise<OpenedIndex> {
  const local = await openTraceStore(indexFolder(config.dataDir, network), config.index);
  if (shared === undefined) return { store: local };
  const { CombinedTraceStore } = await import('../../ethereum/store/shared/index.ts');
  const combined = new CombinedTraceStore(
    { keepBlocks: config.traceStoreRecentBlocks },
    { local, shared: (chain) => shared.reader(chain) },
  );
  return { store: combined, combined };
}

/**
 * Opens the index that servers share. Throws ConfigError if its URL or tables are wrong, but not if it is
 * unreachable.
 */
export async function openSharedIndex(url: string): Promise<SharedTraces> {
  const traces = await openSharedUrl(url);
  try {
    await traces.check().catch(asConfigError);
  } catch (error) {
    if (error instanceof IndexUnavailableError) return traces;
    await traces.close();
    throw error;
  }
  return traces;
}

/** Opens the index that servers share, without a request. Throws ConfigError if the URL is wrong. */
export async function openSharedUrl(url: string | undefined): Promise<SharedTraces> {
  if (url === undefined)
    throw new ConfigError(
      'traceStore (FLOODGATE_TRACE_STORE, --trace-store) is missing: set it to the URL of the shared index',
    );
  const { openSharedTraces } = await import('../../ethereum/store/shared/index.ts');
  try {
    return openSharedTraces(url);
  } catch (error) {
    return asConfigError(error);
  }
}

export function asConfigError(error: unknown): never {
  if (error instanceof Error && error.name === 'BadTraceStore')
    throw new ConfigError(`traceStore (FLOODGATE_TRACE_STORE): ${error.message}`);
  throw error;
}
