import type { Hash, IndexChange, StoredBlock } from '../../../traces/index.ts';
import { LeaseHeldElsewhere } from '../connection/failures.ts';
import type { ChainReader } from '../reads/chainReader.ts';

/** Timeout and poll interval of an instance that waits for the writing instance to reach its blocks. */
export const MAX_WAIT_MS = 12_000;
export const POLL_MS = 250;

/** Observes the progress of the instance that writes the index. */
export class WriterProgress {
  readonly #reader: Pick<ChainReader, 'blocks' | 'lastBlock' | 'firstMissing'>;

  constructor(reader: Pick<ChainReader, 'blocks' | 'lastBlock' | 'firstMissing'>) {
    this.#reader = reader;
  }

  /** Whether the writing instance has made the change. A change that only finalizes blocks counts as made. */
  async hasApplied({ blocks, finalizedNumber, undoFrom }: IndexChange): Promise<boolean> {
    if (blocks.length === 0)
      return undoFrom === undefined ? finalizedNumber !== undefined : (await this.#head()) < undoFrom;
    const held = await this.#held(blocks);
    return blocks.every(({ block: { hash, unavailable } }) => {
      const there = held.get(hash);
      return there !== undefined && (there.unavailable === undefined || unavailable !== undefined);
    });
  }

  /**
   * Whether it is useless to wait: the writing instance skipped the blocks of the change, or stored them without
   * traces.
   */
  async hasSkipped({ blocks, undoFrom }: IndexChange): Promise<boolean> {
    const last = blocks.at(-1)?.block.number;
    if (undoFrom !== undefined || last === undefined) return false;
    const head = await this.#head();
    if (last > head) return false;
    if (last < head && (await this.#reader.firstMissing(last, last)) !== undefined) return true;
    const held = await this.#held(blocks);
    return blocks.some(
      ({ block: { hash, unavailable } }) =>
        unavailable === undefined && held.get(hash)?.unavailable !== undefined,
    );
  }

  notWritten({ blocks, undoFrom }: IndexChange): LeaseHeldElsewhere {
    const first = blocks[0]?.block.number ?? undoFrom;
    return new LeaseHeldElsewhere(
      `another instance writes the index, and has not reached block ${first} of this chain`,
    );
  }

  async #held(blocks: IndexChange['blocks']): Promise<ReadonlyMap<Hash, StoredBlock>> {
    const held = await this.#reader.blocks(blocks.map(({ block }) => block.number));
    return new Map(held.map((block) => [block.hash, block]));
  }

  async #head(): Promise<number> {
    return (await this.#reader.lastBlock(Number.MAX_SAFE_INTEGER))?.number ?? -1;
  }
}
