import { setTimeout as pause } from 'node:timers/promises';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import { type ChainIdentity, type IndexChange, WrongChainError } from '../../../traces/index.ts';
import type { ChainReader } from '../reads/chainReader.ts';
import type { ChangeTarget } from './writer.ts';
import { MAX_WAIT_MS, POLL_MS, WriterProgress } from './writerProgress.ts';

/** Change target of an instance that never writes. `apply` waits until the writing instance has made the change. */
export class IndexFollower implements ChangeTarget {
  readonly #reader: Pick<ChainReader, 'identity'>;
  readonly #other: WriterProgress;
  readonly #maxWaitMs: number;
  readonly #changes = new SerialQueue();
  /** Whether the wait for the last change timed out. The next change is then checked once, without waiting. */
  #isStalled = false;
  #isClosing = false;

  constructor(
    { maxWaitMs = MAX_WAIT_MS }: { readonly maxWaitMs?: number },
    reader: Pick<ChainReader, 'identity' | 'blocks' | 'lastBlock' | 'firstMissing'>,
  ) {
    this.#reader = reader;
    this.#maxWaitMs = maxWaitMs;
    this.#other = new WriterProgress(reader);
  }

  /**
   * Throws WrongChainError if the index belongs to another chain. If it belongs to none yet, the writing instance
   * binds it.
   */
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
    while (!(await this.#other.hasApplied(change))) {
      if (await this.#other.hasSkipped(change)) throw this.#other.notWritten(change);
      if (this.#isClosing || performance.now() >= deadlineMs) {
        this.#isStalled = true;
        throw this.#other.notWritten(change);
      }
      await pause(POLL_MS);
    }
    this.#isStalled = false;
  }
}
