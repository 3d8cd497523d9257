import type { Logger } from 'pino';
import { type IndexerObserver, SharedFiller, type SharedIndex } from '../../ethereum/ingest/index.ts';
import { defaultFinality, type Finality, type TraceProvider } from '../../ethereum/nodes/index.ts';
import type { CombinedTraceStore, SharedTraces } from '../../ethereum/store/shared/index.ts';
import { IndexUnavailableError, immediate } from '../../ethereum/traces/index.ts';
import { inBackground } from '../../platform/background/index.ts';
import { EmbeddedSource } from './embeddedSource.ts';

/** Work of a server for the index that servers share. */
export interface SharedIndexWork {
  /** Returns the number of the highest shared block up to a number; undefined if there is none, or if it is unknown. */
  head(upTo: number): Promise<number | undefined>;
  /** To be called after each change at the head of the local index. Removes local blocks that the shared index has. */
  followed(): void;
  stop(): Promise<void>;
}

export interface FollowSharedIndexOptions {
  readonly pollIntervalMs: number;
  readonly finality: Finality | undefined;
  readonly fromBlock: number | undefined;
}

export interface FollowSharedIndexDependencies {
  readonly combined: CombinedTraceStore;
  /** Undefined if other servers write the shared index. */
  readonly writer: SharedTraces['writer'] | undefined;
  readonly source: TraceProvider;
  readonly report: Pick<IndexerObserver, 'failed' | 'recovered'>;
  readonly logger: Logger;
}

export function followSharedIndex(
  { pollIntervalMs, finality, fromBlock }: FollowSharedIndexOptions,
  { combined, writer, source, report, logger }: FollowSharedIndexDependencies,
): SharedIndexWork {
  const stop = new AbortController();
  const trim = (): Promise<unknown> =>
    combined.trim().catch((error: unknown) => {
      // If the trace store is unreachable, its watch reports that.
      if (!(error instanceof IndexUnavailableError)) throw error;
    });
  let target: SharedIndex | undefined;
  const shared = (): SharedIndex | undefined => {
    const { shared: reader, local } = combined;
    const chain = immediate(local.chain());
    if (target !== undefined || writer === undefined || reader === undefined || chain === undefined)
      return target;
    if ((finality ?? defaultFinality(chain.chainId)) === 'none')
      logger.warn('index.finality is none: no block is written to the trace store');
    const chainWriter = writer(chain);
    target = {
      lastBlock: (upTo) => reader.lastBlock(upTo),
      firstMissing: (from, to) => reader.firstMissing(from, to),
      unavailable: (from, to, max) => reader.unavailable(from, to, max),
      write: (blocks) => chainWriter.write(blocks),
    };
    return target;
  };
  const filler =
    writer &&
    new SharedFiller(
      { fromBlock, pollIntervalMs },
      {
        shared,
        source: new EmbeddedSource(combined.local, source),
        signal: stop.signal,
        finalNumber: () => (finality === 'none' ? undefined : immediate(combined.local.finalizedNumber())),
        written: (blocks) =>
          logger.debug(
            { block: blocks.at(-1)?.block.number, blocks: blocks.length },
            'written to the trace store',
          ),
        failed: (error, retryMs) => report.failed(error, retryMs),
        recovered: () => report.recovered(),
        nowMs: () => performance.now(),
      },
    );
  const running = filler?.run();
  return {
    head: async (upTo) => (await combined.shared?.lastBlock(upTo).catch(() => undefined))?.number,
    followed: () => inBackground('removal of local blocks', trim),
    async stop() {
      stop.abort();
      await running;
    },
  };
}
