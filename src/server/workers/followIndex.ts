import type { Logger } from 'pino';
import type { Config } from '../../config/index.ts';
import { type LmdbTraceReader, openTraceReader } from '../../ethereum/store/lmdb/traces/index.ts';
import { type NewestBlocks, TieredTraceReader } from '../../ethereum/store/tiered/index.ts';
import type { RecentPart, TraceReader } from '../../ethereum/traces/index.ts';
import { indexFolder } from '../indexFolder.ts';
import { openSharedIndex } from '../openIndex.ts';
import type { NetworkState } from './calls.ts';

/** The index of a network that the primary writes, or keeps the newest blocks of. */
export interface FollowedIndex {
  readonly reader: TraceReader;
  follow(state: NetworkState): void;
  /** What is read from now on is of no older commit than the last one of now. */
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
  if (config.traceStore === undefined) return followEmbedded(open(indexFolder(config.dataDir, name)));
  const shared = await openSharedIndex(config, { network: name, logger, isReader: true });
  const recent = new FollowedRecent(open, (error) =>
    logger.warn(
      { network: name, err: error },
      'the newest blocks could not be read here; they are answered from ClickHouse',
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

function followEmbedded(reader: LmdbTraceReader): FollowedIndex {
  let shownHead = -1;
  return {
    reader,
    follow({ indexHead }) {
      shownHead = indexHead;
      reader.refresh(shownHead);
    },
    refresh: () => reader.refresh(shownHead),
    close: () => reader.close(),
  };
}

/** The newest blocks, where the primary keeps them: now in one folder, now in another. */
class FollowedRecent implements NewestBlocks {
  readonly #open: (folder: string) => LmdbTraceReader;
  readonly #failed: (error: unknown) => void;
  #part: RecentPart | undefined;
  /** Kept open where there is nothing to be read for a moment. */
  #opened: { readonly folder: string; readonly reader: LmdbTraceReader | undefined } | undefined;
  /** Answers may still be read from it. */
  #retired: LmdbTraceReader | undefined;

  constructor(open: (folder: string) => LmdbTraceReader, failed: (error: unknown) => void) {
    this.#open = open;
    this.#failed = failed;
  }

  get store(): TraceReader | undefined {
    return this.#part && this.#opened?.reader;
  }

  get head(): number | undefined {
    return this.#part?.head;
  }

  holding(fromBlock: number, toBlock: number): TraceReader | undefined {
    const { first, head } = this.#part ?? {};
    if (first === undefined || head === undefined) return undefined;
    return fromBlock >= first && toBlock <= head ? this.store : undefined;
  }

  follow(part: RecentPart | undefined): void {
    if (part !== undefined && part.folder !== this.#opened?.folder) this.#turnTo(part.folder);
    this.#part = this.#opened?.reader && part;
    this.refresh();
  }

  refresh(): void {
    if (this.#part !== undefined) this.#opened?.reader?.refresh(this.#part.head);
  }

  async close(): Promise<void> {
    await Promise.all([this.#retired, this.#opened?.reader].map((reader) => reader?.close()));
  }

  #turnTo(folder: string): void {
    // Whoever began to read the one before this has long done so.
    void this.#retired?.close();
    this.#retired = this.#opened?.reader;
    let reader: LmdbTraceReader | undefined;
    try {
      reader = this.#open(folder);
    } catch (error) {
      this.#failed(error);
    }
    this.#opened = { folder, reader };
  }
}
