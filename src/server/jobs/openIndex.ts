import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Config, ConfigError } from '../../config/index.ts';
import type { ClickHouseTraceStore } from '../../ethereum/store/clickhouse/index.ts';
import type { TraceStoreOptions } from '../../ethereum/store/lmdb/traces/index.ts';
import { type RecentIndex, TieredTraceStore } from '../../ethereum/store/tiered/index.ts';
import type { MaybePromise, TraceStore } from '../../ethereum/traces/index.ts';
import type { Log } from '../../platform/logging/index.ts';
import { indexFolder } from './indexFolder.ts';

export interface OpenIndexDependencies {
  readonly logger: Logger;
  readonly openTraceStore: (folder: string, options: TraceStoreOptions) => MaybePromise<TraceStore>;
}

export interface OpenIndexOptions {
  readonly config: SharedIndexOptions & Pick<Config, 'index'>;
  readonly network: string;
  /** Whether this server serves requests from the index, and whether it may write to it if it is shared. */
  readonly use: { readonly answers: boolean; readonly writes: boolean };
}

/**
 * Opens the trace index of a network: the embedded one in the data folder, or the one that instances share, with its
 * newest blocks also kept in the data folder.
 */
export async function openIndex(
  { config, network, use }: OpenIndexOptions,
  { logger, openTraceStore }: OpenIndexDependencies,
): Promise<TraceStore> {
  if (config.traceStore === undefined)
    return openTraceStore(indexFolder(config.dataDir, network), config.index);
  const shared = await openSharedIndex(config, { network, logger, isReader: !use.writes });
  const keepBlocks = use.answers ? config.traceStoreRecentBlocks : 0;
  if (keepBlocks === 0) return shared;
  const folder = join(config.dataDir, 'recent', network);
  // An earlier run may have left outdated blocks in this folder. The shared index has them too, so they can be
  // deleted.
  rmSync(folder, { recursive: true, force: true });
  const openRecent = async (): Promise<RecentIndex> => {
    mkdirSync(folder, { recursive: true });
    const path = mkdtempSync(join(folder, 'blocks-'));
    const store = await openTraceStore(path, config.index);
    return {
      ...{ store, folder: path },
      async discard() {
        await store.close();
        rmSync(path, { recursive: true, force: true });
      },
    };
  };
  return new TieredTraceStore(
    { keepBlocks },
    {
      ...{ shared, openRecent },
      failed: (error) =>
        logger.warn(
          { network, err: error },
          'cannot keep the newest blocks locally: serving them from ClickHouse',
        ),
    },
  );
}

export type SharedIndexOptions = Pick<
  Config,
  'dataDir' | 'traceStore' | 'traceStorePostgres' | 'traceStoreRecentBlocks'
> & { readonly rules: Pick<Config['rules'], 'store'> };

export interface OpenSharedIndexDependencies {
  readonly network: string;
  readonly logger: Log;
  readonly isReader?: boolean;
}

/** Opens the trace index that instances share. Throws ConfigError if a database URL is missing or invalid. */
export async function openSharedIndex(
  {
    traceStore,
    traceStorePostgres,
    rules,
  }: Pick<SharedIndexOptions, 'traceStore' | 'traceStorePostgres' | 'rules'>,
  { network, logger, isReader = false }: OpenSharedIndexDependencies,
): Promise<ClickHouseTraceStore> {
  const postgres = traceStorePostgres ?? rules.store;
  if (traceStore === undefined || postgres === undefined)
    throw new ConfigError(
      'traceStore (FLOODGATE_TRACE_STORE, --trace-store) requires PostgreSQL: set traceStorePostgres (FLOODGATE_TRACE_STORE_POSTGRES, --trace-store-postgres) or rules.store',
    );
  const { BadTraceStoreUrl, openClickHouseTraces } = await import('../../ethereum/store/clickhouse/index.ts');
  try {
    return await openClickHouseTraces({ url: traceStore, postgres, network, isReader }, { log: logger });
  } catch (error) {
    if (!(error instanceof BadTraceStoreUrl)) throw error;
    throw new ConfigError(`traceStore (FLOODGATE_TRACE_STORE) or its PostgreSQL: ${error.message}`);
  }
}
