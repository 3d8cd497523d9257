import { setTimeout as pause } from 'node:timers/promises';
import { SerialQueue } from '../../../platform/serialQueue/index.ts';
import { type ChainIdentity, type IndexChange, WrongChainError } from '../../traces/index.ts';
import type { ChainReader } from './chainReader.ts';
import { LOOK_MS, MAX_WAIT_MS, OtherWriter } from './otherWriter.ts';
import type { ChangeTarget } from './writer.ts';

/** Of an instance that never writes: a change is there when the instance that writes has made it. */
export class IndexFollower implements ChangeTarget {
  readonly #reader: Pick<ChainReader, 'identity'>;
  readonly #other: OtherWriter;
  readonly #maxWaitMs: number;
  readonly #changes = new SerialQueue();
  /** The last change was waited for in vain: whoever comes next does not wait for it once more. */
  #isStalled = false;
  #isClosing = false;

  constructor(
    { maxWaitMs = MAX_WAIT_MS }: { readonly maxWaitMs?: number },
    reader: Pick<ChainReader, 'identity' | 'blocks' | 'lastBlock' | 'firstMissing'>,
  ) {
    this.#reader = reader;
    this.#maxWaitMs = maxWaitMs;
    this.#other = new OtherWriter(reader);
  }

  /** An index without a chain gets its chain from the instance that writes. */
  async bind(identity: ChainIdentity): Promise<void> {
    const held = await this.#reader.identity();
    if (held === undefined) return;
    if (held.chainId !== identity.chainId || held.genesisHash !== identity.genesisHash)
      throw new WrongChainError(held, identity);
  }

  apply(change: IndexChange): Promise<void> {
    return this.#changes.run(() => this.#await(change));
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#changes.idle();
  }

  async #await(change: IndexChange): Promise<void> {
    const deadlineMs = performance.now() + (this.#isStalled ? 0 : this.#maxWaitMs);
    while (!(await this.#other.hasDone(change))) {
      if (await this.#other.isPast(change)) throw this.#other.notWritten(change);
      if (this.#isClosing || performance.now() >= deadlineMs) {
        this.#isStalled = true;
        throw this.#other.notWritten(change);
      }
      await pause(LOOK_MS);
    }
    this.#isStalled = false;
  }
}
