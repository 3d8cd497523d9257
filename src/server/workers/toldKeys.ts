import type { KeyRecords } from '../../ethereum/gateway/index.ts';

/** What has become of the API keys that a database has since a worker was told last. */
export interface KeyChanges {
  /** By the hash of a secret: the key as it is now; undefined where it is gone. */
  readonly changed: ReadonlyMap<string, unknown>;
  readonly hadAny: boolean;
  /** When they were compared with the database, by the clock of the machine. */
  readonly comparedAtMs: number;
}

/** The same in all processes of a machine: a message that lies about for minutes does not make keys younger. */
const machineMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

/** Tells one worker of keys: of all at first, then of those that changed. */
export class KeyTeller {
  readonly #records: Pick<KeyRecords, 'ageMs' | 'hadAny' | 'all'>;
  readonly #nowMs: () => number;
  #told: ReadonlyMap<string, unknown> = new Map();

  constructor(records: Pick<KeyRecords, 'ageMs' | 'hadAny' | 'all'>, nowMs = machineMs) {
    this.#records = records;
    this.#nowMs = nowMs;
  }

  /** Must be sent: it is not told again. */
  changes(): KeyChanges {
    const { ageMs, hadAny } = this.#records;
    const [before, now] = [this.#told, this.#records.all()];
    this.#told = now;
    return { changed: between(before, now), hadAny, comparedAtMs: this.#nowMs() - ageMs };
  }
}

function between(
  before: ReadonlyMap<string, unknown>,
  now: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, unknown> {
  const changed = new Map<string, unknown>();
  if (before === now) return changed;
  for (const [hash, key] of now) if (before.get(hash) !== key) changed.set(hash, key);
  for (const hash of before.keys()) if (!now.has(hash)) changed.set(hash, undefined);
  return changed;
}

/** API keys as a worker knows them. Before it is told of any nobody is let in: that there are none would let everybody in. */
export class ToldKeys implements KeyRecords {
  readonly #nowMs: () => number;
  #known: ReadonlyMap<string, unknown> = new Map();
  #hadAny = true;
  #comparedAtMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs = machineMs) {
    this.#nowMs = nowMs;
  }

  get ageMs(): number {
    return this.#nowMs() - this.#comparedAtMs;
  }

  get hadAny(): boolean {
    return this.#hadAny;
  }

  all(): ReadonlyMap<string, unknown> {
    return this.#known;
  }

  follow({ changed, hadAny, comparedAtMs }: KeyChanges): void {
    this.#hadAny = hadAny;
    this.#comparedAtMs = comparedAtMs;
    if (changed.size === 0) return;
    const known = new Map(this.#known);
    for (const [hash, key] of changed)
      if (key === undefined) known.delete(hash);
      else known.set(hash, key);
    this.#known = known;
  }

  /** It is told of what others change. */
  async refresh(): Promise<void> {}

  change(): Promise<never> {
    return Promise.reject(new Error('API keys are changed by the first process'));
  }
}
