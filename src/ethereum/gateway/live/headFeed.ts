import type { BlockRef, HeadBlock } from '../../nodes/index.ts';
import type { Hash } from '../../traces/index.ts';

/** A block that was announced, or is to be. */
export interface LiveBlock extends BlockRef {
  readonly parentHash: Hash;
  /** Its header as JSON. */
  readonly header: string;
  /** The bits of its logs bloom; undefined where it has no logs. */
  readonly logsBloom: Buffer | undefined;
}

/** What is new of the chain: blocks that were replaced, from the highest down, then new ones, each the child of the one before. */
export interface ChainChange {
  readonly undone: readonly LiveBlock[];
  readonly added: readonly LiveBlock[];
}

export interface HeadFeedOptions {
  /** After a node could not give a block it is asked for again so much later. */
  readonly retryMs: number;
}

export interface HeadFeedDependencies {
  /** The head of the chain now; undefined before a node has told. */
  readonly head: () => HeadBlock | undefined;
  /** A block by its hash. Rejects where no node can give it now. */
  readonly block: (hash: Hash) => Promise<LiveBlock>;
  /** Hears of each change, one after the other. Rejects where it has to be told again. */
  readonly changed: (change: ChainChange) => Promise<void>;
  /** So many blocks came at once that they are not gone through. */
  readonly missed: () => void;
}

interface Announced extends BlockRef {
  /** Undefined of the head that there was when it began. */
  readonly block?: LiveBlock;
}

/** Announced blocks that are remembered, which is how far back a reorganisation is told of; and as many new ones are gone through. */
export const REMEMBERED_BLOCKS = 128;

/**
 * Every block that becomes part of the chain, once and in order: each new head with those between it and what was announced
 * before. Each is fetched once, and only while somebody wants to know.
 */
export class HeadFeed {
  readonly #retryMs: number;
  readonly #dependencies: HeadFeedDependencies;
  /** Parent and child, up to what was announced last. */
  #announced: Announced[] = [];
  #isOn = false;
  #isRunning = false;
  /** Blocks that were fetched and not announced yet. */
  readonly #fetched = new Map<string, LiveBlock>();
  #endPause: () => void = () => undefined;

  constructor({ retryMs }: HeadFeedOptions, dependencies: HeadFeedDependencies) {
    this.#retryMs = retryMs;
    this.#dependencies = dependencies;
  }

  /** What was announced last. */
  get tip(): BlockRef | undefined {
    return this.#announced.at(-1);
  }

  /** Somebody wants to know of what comes behind the head of now. */
  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    const head = this.#dependencies.head();
    this.#announced = head === undefined ? [] : [head];
  }

  stop(): void {
    this.#isOn = false;
    this.#announced = [];
    this.#fetched.clear();
    this.#endPause();
  }

  /** There is a new head. */
  headChanged(): void {
    if (this.#isOn) void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let head = this.#next(); head !== undefined; head = this.#next()) {
      const isTold = await this.#follow(head).then(
        () => true,
        () => false,
      );
      if (!isTold) await this.#pause();
    }
    this.#isRunning = false;
  }

  /** The head, where it is not the block that was announced last. */
  #next(): HeadBlock | undefined {
    const head = this.#isOn ? this.#dependencies.head() : undefined;
    return head?.hash === this.#announced.at(-1)?.hash ? undefined : head;
  }

  async #follow(head: HeadBlock): Promise<void> {
    // Another list means that it was stopped meanwhile, and perhaps begun again.
    const announced = this.#announced;
    const added: LiveBlock[] = [];
    let fork = this.#indexOf(head);
    for (let hash = head.hash; fork === undefined; ) {
      const block = await this.#blockOf(hash);
      if (this.#announced !== announced) return;
      added.unshift(block);
      if (added.length > REMEMBERED_BLOCKS) return this.#skipTo(head);
      const parent = { number: block.number - 1, hash: block.parentHash };
      // Of a first block, and below what is remembered, nothing is known: all that was announced is replaced.
      const isBelow = parent.number < (announced[0]?.number ?? block.number);
      fork = isBelow ? -1 : this.#indexOf(parent);
      hash = block.parentHash;
    }
    // What was announced before that, and may be replaced too, is forgotten.
    if (fork === -1 && announced[0]?.block !== undefined) return this.#skipTo(head);
    const undone = announced.slice(fork + 1).reverse();
    await this.#dependencies.changed({ undone: undone.flatMap(({ block }) => block ?? []), added });
    if (this.#announced !== announced) return;
    announced.length = fork + 1;
    for (const block of added) announced.push({ number: block.number, hash: block.hash, block });
    announced.splice(0, announced.length - REMEMBERED_BLOCKS);
    this.#fetched.clear();
  }

  /** Where an announced block stands; undefined where it was not, or is not remembered. */
  #indexOf({ number, hash }: { readonly number: number; readonly hash: string }): number | undefined {
    const index = number - (this.#announced[0]?.number ?? 0);
    return this.#announced[index]?.hash === hash ? index : undefined;
  }

  async #blockOf(hash: Hash): Promise<LiveBlock> {
    const known = this.#fetched.get(hash);
    if (known !== undefined) return known;
    const block = await this.#dependencies.block(hash);
    if (this.#fetched.size > REMEMBERED_BLOCKS) this.#fetched.clear();
    this.#fetched.set(hash, block);
    return block;
  }

  #skipTo(head: HeadBlock): void {
    this.#announced = [head];
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
