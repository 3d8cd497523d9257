import type { KeyRecords } from './sharedKeys.ts';

/** Changes of the API keys in the database since the last message to a worker process. */
export interface KeyChanges {
  /** Changed keys, by the hash of their secret. The value is undefined if the key was removed. */
  readonly changed: ReadonlyMap<string, unknown>;
  readonly hadAny: boolean;
  /** Time when the first process last compared its keys with the database, as returned by `machineMs`. */
  readonly comparedAtMs: number;
}

/** Reads a clock that all processes of the machine share, so that keys in a delayed message keep their true age. */
const machineMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Computes messages for one worker process: the first contains all API keys, later ones only the changed keys. */
export class ApiKeyPublisher {
  readonly #records: Pick<KeyRecords, 'ageMs' | 'hadAny' | 'all'>;
  readonly #nowMs: () => number;
  #sent: ReadonlyMap<string, unknown> = new Map();

  constructor(records: Pick<KeyRecords, 'ageMs' | 'hadAny' | 'all'>, nowMs = machineMs) {
    this.#records = records;
    this.#nowMs = nowMs;
  }

  /** Returns the changes since the last call. The caller must send them, because they are not returned again. */
  changes(): KeyChanges {
    const { ageMs, hadAny } = this.#records;
    const [before, now] = [this.#sent, this.#records.all()];
    this.#sent = now;
    const changed = new Map<string, unknown>();
    if (before !== now) {
      for (const [hash, key] of now) if (before.get(hash) !== key) changed.set(hash, key);
      for (const hash of before.keys()) if (!now.has(hash)) changed.set(hash, undefined);
    }
    return { changed, hadAny, comparedAtMs: this.#nowMs() - ageMs };
  }
}

/**
 * Copy of the API keys in a worker process. Rejects every client until the first message arrives, because an empty set
 * of keys would mean "no authentication".
 */
export class ApiKeyReplica implements KeyRecords {
  readonly #nowMs: () => number;
  #known: ReadonlyMap<string, unknown> = new Map();
  #comparedAtMs = Number.NEGATIVE_INFINITY;
  hadAny = true;

  constructor(nowMs = machineMs) {
    this.#nowMs = nowMs;
  }

  get ageMs(): number {
    return this.#nowMs() - this.#comparedAtMs;
  }

  all(): ReadonlyMap<string, unknown> {
    return this.#known;
  }

  apply({ changed, hadAny, comparedAtMs }: KeyChanges): void {
    this.hadAny = hadAny;
    this.#comparedAtMs = comparedAtMs;
    if (changed.size === 0) return;
    const known = new Map(this.#known);
    for (const [hash, key] of changed)
      if (key === undefined) known.delete(hash);
      else known.set(hash, key);
    this.#known = known;
  }

  /** Does nothing, because the first process sends every change. */
  async refresh(): Promise<void> {}

  change(): Promise<never> {
    return Promise.reject(new Error('only the first process changes API keys'));
  }
}
