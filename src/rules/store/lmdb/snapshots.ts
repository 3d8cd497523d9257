import type { Micros, Rule } from '../../index.ts';

interface Snapshot {
  readonly changedAt: Micros;
  readonly rules: readonly Rule[];
}

/** Most rules kept decoded, over all accounts: about 50 MB with what callers derive from them. */
const MAX_RULES_KEPT = 50_000;

/** The decoded rules of accounts read lately, each valid for one moment of change. */
export class RulesSnapshots {
  readonly #snapshots = new Map<string, Snapshot>();
  #rulesKept = 0;

  get(accountId: string, changedAt: Micros): readonly Rule[] | undefined {
    const snapshot = this.#snapshots.get(accountId);
    return snapshot?.changedAt === changedAt ? snapshot.rules : undefined;
  }

  set(accountId: string, changedAt: Micros, rules: readonly Rule[]): void {
    this.#remove(accountId);
    this.#snapshots.set(accountId, { changedAt, rules });
    this.#rulesKept += rules.length;
    for (const oldest of this.#snapshots.keys()) {
      if (this.#rulesKept <= MAX_RULES_KEPT) break;
      this.#remove(oldest);
    }
  }

  #remove(accountId: string): void {
    this.#rulesKept -= this.#snapshots.get(accountId)?.rules.length ?? 0;
    this.#snapshots.delete(accountId);
  }
}
