import { join } from 'node:path';
import { inBackground } from '../../platform/background/index.ts';
import { StoreFile, storeFolders } from '../../platform/storeFile/index.ts';

const INTERVAL_MS = 2_000;
/** A write that is pending for more than this number of checks is a fault; a hanging disk returns no error. */
const MAX_ROUNDS = 5;

export interface StoreWatchOptions {
  readonly dataDir: string;
  /** Writes a record to the rules store and reads it back. Rejects if either fails. */
  readonly probe: () => Promise<void>;
  /** Whether the probed store is shared with other servers. */
  readonly isShared: boolean;
}

/** Checks periodically that the store files are in place and that the stores accept writes; readiness uses the result. */
export class StoreWatch {
  readonly #probe: () => Promise<void>;
  readonly #isShared: boolean;
  readonly #files: readonly StoreFile[];
  readonly #timer: NodeJS.Timeout;
  #problem: string | undefined;
  #isProblemShared = false;
  #roundsUnderWay = 0;

  /** All stores must already be open. */
  constructor({ dataDir, probe, isShared }: StoreWatchOptions) {
    this.#probe = probe;
    this.#isShared = isShared;
    this.#files = storeFolders(dataDir).map((name) => {
      const file = new StoreFile(join(dataDir, name));
      file.opened({ readOnly: true });
      return file;
    });
    this.#timer = setInterval(
      () => inBackground('probe of the stores', () => this.check()),
      INTERVAL_MS,
    ).unref();
  }

  /** The current fault of the stores, as text; undefined if there is none. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Current fault of this server's own stores. Excludes the shared store, whose faults other servers have too. */
  get ownProblem(): string | undefined {
    return this.#isProblemShared ? undefined : this.#problem;
  }

  async check(): Promise<void> {
    if (this.#roundsUnderWay > 0) {
      if (++this.#roundsUnderWay <= MAX_ROUNDS) return;
      this.#problem = 'a write of the rules store does not finish';
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
