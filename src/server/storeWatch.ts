import { join } from 'node:path';
import { StoreFile, storeFolders } from '../platform/storeFile/index.ts';

/** How often the stores are looked at. */
const INTERVAL_MS = 2_000;
/** A write that takes so many rounds is told: a disk that hangs fails nothing. */
const MAX_ROUNDS = 5;

export interface StoreWatchOptions {
  readonly dataDir: string;
  /** Writes and reads back. Rejects where that cannot be done. */
  readonly probe: () => Promise<void>;
  /** What is probed is shared with other servers. */
  readonly isShared: boolean;
}

/** Looks, again and again, whether the stores are where they were opened and take writes: what readiness says of them. */
export class StoreWatch {
  readonly #probe: () => Promise<void>;
  readonly #isShared: boolean;
  readonly #files: readonly StoreFile[];
  readonly #timer: NodeJS.Timeout;
  #problem: string | undefined;
  #isProblemShared = false;
  #roundsUnderWay = 0;

  /** To be made once every store is open. */
  constructor({ dataDir, probe, isShared }: StoreWatchOptions) {
    this.#probe = probe;
    this.#isShared = isShared;
    this.#files = storeFolders(dataDir).map((name) => {
      const file = new StoreFile(join(dataDir, name));
      file.opened({ readOnly: true });
      return file;
    });
    this.#timer = setInterval(() => void this.look(), INTERVAL_MS).unref();
  }

  /** What is wrong with the stores; undefined where nothing is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The same, but for what every server that shares the store has as well: another would do no better. */
  get ownProblem(): string | undefined {
    return this.#isProblemShared ? undefined : this.#problem;
  }

  async look(): Promise<void> {
    if (this.#roundsUnderWay > 0) {
      if (++this.#roundsUnderWay <= MAX_ROUNDS) return;
      this.#problem = 'a write of the rules store does not end';
      this.#isProblemShared = this.#isShared;
      return;
    }
    this.#roundsUnderWay = 1;
    try {
      this.#isProblemShared = false;
      for (const file of this.#files) file.assertInPlace();
      this.#isProblemShared = this.#isShared;
      await this.#probe();
      this.#problem = undefined;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.#roundsUnderWay = 0;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
