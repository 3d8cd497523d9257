import type { MinuteRecord, QueryStatsStore } from '../analytics/index.ts';
import type { Attack, AttackQuery, AttackStore } from '../attacks/index.ts';
import type { FleetReporter } from './reporter.ts';

/** A guard's own store, from which what is stored is told to others. */
export class TellingStore implements QueryStatsStore, AttackStore {
  readonly #store: QueryStatsStore & AttackStore;
  /** Nobody hears of it before there is one: it finds what was stored until then. */
  reporter: Pick<FleetReporter, 'minutesStored' | 'attacksStored'> | undefined;

  constructor(store: QueryStatsStore & AttackStore) {
    this.#store = store;
  }

  async append(records: readonly MinuteRecord[]): Promise<void> {
    await this.#store.append(records);
    this.reporter?.minutesStored(records);
  }

  range(ruleId: string, fromMinute: number, toMinute: number): Iterable<MinuteRecord> {
    return this.#store.range(ruleId, fromMinute, toMinute);
  }

  async putAttacks(attacks: readonly Attack[]): Promise<void> {
    await this.#store.putAttacks(attacks);
    this.reporter?.attacksStored(attacks);
  }

  forgetAttacks(beforeMs: number): Promise<void> {
    return this.#store.forgetAttacks(beforeMs);
  }

  attack(id: string): Attack | undefined {
    return this.#store.attack(id);
  }

  attacks(query: AttackQuery): { readonly result: readonly Attack[]; readonly total: number } {
    return this.#store.attacks(query);
  }

  unfinished(sinceMs: number): { readonly open: readonly Attack[]; readonly begun: readonly number[] } {
    return this.#store.unfinished(sinceMs);
  }
}
