import type { Logger } from 'pino';
import type { Config } from '../../config/index.ts';
import { type LmdbTraceReader, openTraceReader } from '../../ethereum/store/lmdb/traces/index.ts';
import { RecentBlocksReader, TieredTraceReader } from '../../ethereum/store/tiered/index.ts';
import type { TraceReader } from '../../ethereum/traces/index.ts';
import type { NetworkState } from '../ethereum/ethereumNetwork.ts';
import { indexFolder } from './indexFolder.ts';
import { openSharedIndex } from './openIndex.ts';

/** A worker's read access to the trace index of a network. The first process writes the index. */
export interface FollowedIndex {
  readonly reader: TraceReader;
  follow(state: NetworkState): void;
  /** Makes later reads of the data folder see everything that was committed until now. */
  refresh(): void;
  close(): Promise<void>;
}

export interface FollowIndexOptions {
  readonly name: string;
  readonly config: Config;
}

export async function followIndex(
  { name, config }: FollowIndexOptions,
  { logger }: { readonly logger: Logger },
): Promise<FollowedIndex> {
  const open = (folder: string): LmdbTraceReader => openTraceReader(folder, config.index);
  if (config.traceStore === undefined) {
    const reader = open(indexFolder(config.dataDir, name));
    return {
      reader,
      follow: () => undefined,
      refresh: () => reader.refresh(),
      close: () => reader.close(),
    };
  }
  const shared = await openSharedIndex(config, { network: name, logger, isReader: true });
  const recent = new RecentBlocksReader(open, (error) =>
    logger.warn(
      { network: name, err: error },
      'newest blocks unreadable in the data folder: read from ClickHouse',
    ),
  );
  return {
    reader: new TieredTraceReader({ shared, recent }),
    follow: ({ recentPart }) => recent.follow(recentPart),
    refresh: () => recent.refresh(),
    async close() {
      await recent.close();
      await shared.close();
    },
  };
}
