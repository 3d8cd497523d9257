import type { IndexChange } from '../../traces/index.ts';
import type { ChainReader } from './chainReader.ts';
import { LeaseHeldElsewhere } from './failures.ts';

/** Who does not write waits so long for the one who does to come to the same blocks, and looks so often. */
export const MAX_WAIT_MS = 12_000;
export const LOOK_MS = 250;

/** What the instance that writes the index has come to, as seen by one that does not. */
export class OtherWriter {
  readonly #reader: Pick<ChainReader, 'blocks' | 'lastBlock' | 'firstMissing'>;

  constructor(reader: Pick<ChainReader, 'blocks' | 'lastBlock' | 'firstMissing'>) {
    this.#reader = reader;
  }

  /** Whether it has come to the same. What is final it says itself. */
  async hasDone({ blocks, finalizedNumber, undoFrom }: IndexChange): Promise<boolean> {
    if (blocks.length === 0)
      return undoFrom === undefined ? finalizedNumber !== undefined : (await this.#head()) < undoFrom;
    const held = await this.#reader.blocks(blocks.map(({ block }) => block.number));
    const hashes = new Set(held.map(({ hash }) => hash));
    return blocks.every(({ block }) => hashes.has(block.hash));
  }

  /** Blocks below the head are added when it comes to them: nobody waits for that. */
  async isPast({ blocks, undoFrom }: IndexChange): Promise<boolean> {
    const last = blocks.at(-1)?.block.number;
    if (undoFrom !== undefined || last === undefined) return false;
    return last < (await this.#head()) && (await this.#reader.firstMissing(last, last)) !== undefined;
  }

  notWritten({ blocks, undoFrom }: IndexChange): LeaseHeldElsewhere {
    const first = blocks[0]?.block.number ?? undoFrom;
    return new LeaseHeldElsewhere(
      `another instance writes the index, and has not come to block ${first} as it is here`,
    );
  }

  async #head(): Promise<number> {
    return (await this.#reader.lastBlock(Number.MAX_SAFE_INTEGER))?.number ?? -1;
  }
}
