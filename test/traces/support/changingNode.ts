import type { ChainSource } from '../../../src/ethereum/ingest/index.ts';
import type {
  BlockFinder,
  HeadBlock,
  NodeHeads,
  TracedBlock,
  TransactionFinder,
} from '../../../src/ethereum/nodes/index.ts';
import type { ChainIdentity, Hash } from '../../../src/ethereum/traces/index.ts';
import { shape } from '../../contract/growingChain.ts';
import type { Random } from '../../support/random.ts';
import { syntheticBlock } from '../../support/syntheticChain.ts';

const SHAPE = { ...shape, maxTransactions: 4, maxFrames: 4 };

/** A node in this process whose chain grows, is reorganised and becomes final. It keeps each version of the chain. */
export class ChangingNode implements ChainSource, TransactionFinder, BlockFinder {
  readonly #random: Random;
  readonly #identity: ChainIdentity;
  readonly #first: number;
  /** The versions of the chain, each with its blocks from number `first` on. */
  readonly versions: (readonly TracedBlock[])[] = [[]];
  finalized: number;

  constructor(random: Random, identity: ChainIdentity, first: number) {
    this.#random = random;
    this.#identity = identity;
    this.#first = first;
    this.finalized = first;
  }

  get #blocks(): readonly TracedBlock[] {
    return this.versions.at(-1) ?? [];
  }

  get head(): number {
    return this.#first + this.#blocks.length - 1;
  }

  /** Returns the blocks of a range in a version of the chain; undefined if it lacks one. */
  blocksOf(version: number, fromBlock: number, toBlock: number): readonly TracedBlock[] | undefined {
    const blocks = this.versions[version] ?? [];
    const end = toBlock - this.#first + 1;
    return end > blocks.length ? undefined : blocks.slice(fromBlock - this.#first, end);
  }

  /** Replaces the last `depth` blocks by `count` others. */
  replace(depth: number, count: number): void {
    const blocks = this.#blocks.slice(0, this.#blocks.length - depth);
    for (let i = 0; i < count; i++)
      blocks.push(
        syntheticBlock(this.#random, SHAPE, {
          number: this.#first + blocks.length,
          parentHash: blocks.at(-1)?.header.hash,
        }),
      );
    this.versions.push(blocks);
  }

  get knownHeads(): NodeHeads {
    return { latest: this.#at(this.head), finalized: this.#at(this.finalized) };
  }

  chain = async () => this.#identity;
  heads = () => this.#late(() => this.knownHeads);
  freshHeads = () => this.heads();
  block = (number: number) => this.#late(() => this.#blocks[number - this.#first]);
  blockRef = (number: number) => this.#late(() => this.#blocks[number - this.#first]?.header);
  blockOfHash = (wanted: Hash) =>
    this.#late(() => this.versions.flat().find(({ header }) => header.hash === wanted)?.header);
  transactionBlock = async () => undefined;
  revertOutput = () => Promise.reject(new Error('not used'));

  #at(number: number): HeadBlock {
    return this.#blocks[number - this.#first]?.header as HeadBlock; // callers pass existing blocks
  }

  /** Requests and responses overtake each other. */
  async #late<T>(answer: () => T): Promise<T> {
    await turns(this.#random.below(6));
    const answered = answer();
    await turns(this.#random.below(6));
    return answered;
  }
}

/** Waits for some turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
}
