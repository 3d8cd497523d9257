import { inBackground } from '../../../../platform/background/index.ts';
import type { BlockRef } from '../../../nodes/index.ts';
import type { Hash } from '../../../traces/index.ts';

/** Block that was announced to subscribers, or that will be announced. */
export interface LiveBlock extends BlockRef {
  readonly parentHash: Hash;
  readonly header: string;
  /** Bits of the logs bloom (Bloom filter of log addresses and topics). Undefined if the block has no logs. */
  readonly logsBloom: Buffer | undefined;
}

/** Change of the chain: its replaced blocks, highest first, and then its new blocks in ascending order. */
export interface ChainChange {
  readonly undone: readonly LiveBlock[];
  readonly added: readonly LiveBlock[];
}

export interface HeadFeedOptions {
  readonly retryMs: number;
}

export interface HeadFeedDependencies {
  /** Returns the current head (newest block). Undefined until a node has reported one. */
  readonly head: () => BlockRef | undefined;
  /** Returns the known ancestors of the head in ascending order, up to its parent. Each is the parent of the next. */
  readonly ancestors: () => readonly BlockRef[];
  /** Returns the block with this hash. Rejects if no node has the block. */
  readonly block: (hash: Hash) => Promise<LiveBlock>;
  /** Called with one change at a time. If the promise rejects, the function is called again with the same change. */
  readonly changed: (change: ChainChange) => Promise<void>;
  /** Called when `head` of this feed has changed. */
  readonly announced?: () => void;
  /** Called if blocks were not announced: too many arrived at once, or a reorg began below all known blocks. */
  readonly missed: () => void;
}

interface Announced extends BlockRef {
  /** Undefined for the head when the feed started, and its ancestors. These blocks are never announced. */
  readonly block?: LiveBlock;
}

/** Number of blocks in memory. If a change adds or replaces more, subscribers miss blocks. */
export const REMEMBERED_BLOCKS = 128;

/**
 * Announces each new block of the chain once and in order, even if the head advances by several blocks. Fetches
 * blocks only while there are subscribers, and each block only once.
 */
export class HeadFeed {
  readonly #retryMs: number;
  readonly #dependencies: HeadFeedDependencies;
  /**
   * Announced blocks in ascending order, after known blocks from before the start. Each is the parent of the next. A
   * reorg that begins before the start is announced from its first block, because clients may have read the old blocks.
   */
  #announced: Announced[] = [];
  #isOn = false;
  #isRunning = false;
  readonly #fetched = new Map<string, LiveBlock>();
  #endPause: () => void = () => undefined;

  constructor({ retryMs }: HeadFeedOptions, dependencies: HeadFeedDependencies) {
    this.#retryMs = retryMs;
    this.#dependencies = dependencies;
  }

  /** Starts to announce blocks. The first announced block is the one after the current head. */
  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#announced = this.#known();
  }

  #known(): Announced[] {
    const head = this.#dependencies.head();
    return head === undefined ? [] : [...this.#dependencies.ancestors(), head];
  }

  stop(): void {
    this.#isOn = false;
    this.#announced = [];
    this.#fetched.clear();
    this.#endPause();
  }

  /** The last announced block, or the head when the feed started. Undefined if there is none. */
  get head(): BlockRef | undefined {
    const last = this.#announced.at(-1);
    return last && { number: last.number, hash: last.hash };
  }

  /** The known ancestors of `head`, announced or not, in ascending order. */
  get ancestors(): readonly BlockRef[] {
    return this.#announced.slice(0, -1).map(({ number, hash }) => ({ number, hash }));
  }

  /** Returns an announced block. Undefined if it is not in memory. */
  announcedBlock(hash: string): LiveBlock | undefined {
    return this.#announced.find((announced) => announced.hash === hash)?.block;
  }

  headChanged(): void {
    if (this.#isOn) inBackground('new heads', () => this.#run());
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let head = this.#next(); head !== undefined; head = this.#next()) {
      const isReported = await this.#follow(head).then(
        () => true,
        () => false,
      );
      if (isReported) this.#dependencies.announced?.();
      else await this.#pause();
    }
    this.#isRunning = false;
  }

  #next(): BlockRef | undefined {
    const head = this.#isOn ? this.#dependencies.head() : undefined;
    return head?.hash === this.#announced.at(-1)?.hash ? undefined : head;
  }

  async #follow(head: BlockRef): Promise<void> {
    // `stop` replaces this array, and `start` may follow at once. So a changed array means that this run must end.
    const announced = this.#announced;
    const added: LiveBlock[] = [];
    let fork = this.#indexOf(head);
    for (let hash = head.hash; fork === undefined; ) {
      const block = await this.#blockOf(hash);
      if (this.#announced !== announced) return;
      added.unshift(block);
      if (added.length > REMEMBERED_BLOCKS) return this.#skip();
      const parent = { number: block.number - 1, hash: block.parentHash };
      fork = this.#indexOf(parent) ?? (this.#isBelowAll(parent) ? -1 : undefined);
      // Older blocks than the known ones were replaced.
      if (fork === undefined && parent.number < (announced[0]?.number ?? 0)) return this.#skip();
      hash = block.parentHash;
    }
    const undone = announced.slice(fork + 1).reverse();
    await this.#dependencies.changed({ undone: undone.flatMap(({ block }) => block ?? []), added });
    if (this.#announced !== announced) return;
    announced.length = fork + 1;
    for (const block of added) announced.push({ number: block.number, hash: block.hash, block });
    announced.splice(0, announced.length - REMEMBERED_BLOCKS);
    this.#fetched.clear();
  }

  /** Returns the index of a block in `#announced`. Undefined if the block is not in it. */
  #indexOf({ number, hash }: { readonly number: number; readonly hash: string }): number | undefined {
    const index = number - (this.#announced[0]?.number ?? 0);
    return this.#announced[index]?.hash === hash ? index : undefined;
  }

  /** Whether a block is the parent of the lowest announced block, or no block was announced. */
  #isBelowAll({ hash }: BlockRef): boolean {
    const [lowest] = this.#announced;
    return lowest === undefined || lowest.block?.parentHash === hash;
  }

  async #blockOf(hash: Hash): Promise<LiveBlock> {
    const known = this.#fetched.get(hash);
    if (known !== undefined) return known;
    const block = await this.#dependencies.block(hash);
    if (this.#fetched.size > REMEMBERED_BLOCKS) this.#fetched.clear();
    this.#fetched.set(hash, block);
    return block;
  }

  #skip(): void {
    this.#announced = this.#known();
    this.#fetched.clear();
    this.#dependencies.missed();
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#retryMs);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
