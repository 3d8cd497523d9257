import { inBackground } from '../../../platform/background/index.ts';
import type { RecentPart, TraceReader } from '../../traces/index.ts';
import type { NewestBlocks } from './tieredTraceReader.ts';

interface FreshReader extends TraceReader {
  /** Makes all earlier commits, also those of other processes, visible to later reads. */
  refresh(): void;
}

interface OpenPart {
  readonly folder: string;
  /** Reader of the index in the folder. Undefined if the index could not be opened. */
  readonly reader: FreshReader | undefined;
}

/** Reads the newest blocks from the local index that the writing process currently uses. */
export class RecentBlocksReader implements NewestBlocks {
  readonly #open: (folder: string) => FreshReader;
  readonly #failed: (error: unknown) => void;
  #part: RecentPart | undefined;
  #opened: OpenPart | undefined;
  /** The index that was used before `#opened`. It stays open, because reads from it may still be running. */
  #previous: OpenPart | undefined;

  constructor(open: (folder: string) => FreshReader, failed: (error: unknown) => void) {
    this.#open = open;
    this.#failed = failed;
  }

  get store(): TraceReader | undefined {
    return this.#part && this.#opened?.reader;
  }

  get head(): number | undefined {
    return this.#part?.head;
  }

  covering(fromBlock: number, toBlock: number): TraceReader | undefined {
    const { first, head } = this.#part ?? {};
    if (first === undefined || head === undefined) return undefined;
    return fromBlock >= first && toBlock <= head ? this.store : undefined;
  }

  follow(part: RecentPart | undefined): void {
    if (part !== undefined && part.folder !== this.#opened?.folder) this.#use(part.folder);
    this.#part = this.#opened?.reader && part;
    this.refresh();
  }

  refresh(): void {
    this.#opened?.reader?.refresh();
  }

  async close(): Promise<void> {
    await Promise.all([this.#previous, this.#opened].map((part) => part?.reader?.close()));
  }

  #use(folder: string): void {
    const unused = this.#previous;
    inBackground('newest blocks', () => unused?.reader?.close());
    this.#previous = this.#opened;
    let reader: FreshReader | undefined;
    try {
      reader = this.#open(folder);
    } catch (error) {
      this.#failed(error);
    }
    this.#opened = { folder, reader };
  }
}
