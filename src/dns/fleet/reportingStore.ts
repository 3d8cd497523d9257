import type { MinuteRecord, QueryStatsStore } from '../analytics/index.ts';
import type { Attack, AttackQuery, AttackStore } from '../attacks/index.ts';
import type { FleetReporter } from './reporter.ts';

/** The store of a guard. Stores records as the wrapped store does, and also passes them to the fleet reporter. */
export class ReportingStore implements QueryStatsStore, AttackStore {
  readonly #store: QueryStatsStore & AttackStore;
  /** Undefined until the reporter starts. The reporter then reads the records that were stored before. */
  reporter: Pick<FleetReporter, 'onMinutesStored' | 'onAttacksStored'> | undefined;

  constructor(store: QueryStatsStore & AttackStore) {
    this.#store = store;
  }

  async append(records: readonly MinuteRecord[]): Promise<void> {
    await this.#store.append(records);
    this.reporter?.onMinutesStored(records);
  }

  range(ruleId: string, fromMinute: number, toMinute: number): Iterable<MinuteRecord> {
    return this.#store.range(ruleId, fromMinute, toMinute);
  }

  async putAttacks(attacks: readonly Attack[]): Promise<void> {
    await this.#store.putAttacks(attacks);
    this.reporter?.onAttacksStored(attacks);
  }

  deleteAttacks(beforeMs: number): Promise<void> {
    return this.#store.deleteAttacks(beforeMs);
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
