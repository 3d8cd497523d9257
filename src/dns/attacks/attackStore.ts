import type { Attack } from './attack.ts';

/** Filter and page for a list of attacks. The list is sorted by start time, newest first. */
export interface AttackQuery {
  /** Range of the attacks' start times: inclusive lower bound, exclusive upper bound. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly page: number;
  readonly perPage: number;
}

/** Stores attacks for {@link RETENTION_DAYS} days after their start. */
export interface AttackStore {
  putAttacks(attacks: readonly Attack[]): Promise<void>;
  /** Deletes ended attacks that started before this time. */
  deleteAttacks(beforeMs: number): Promise<void>;
  attack(id: string): Attack | undefined;
  attacks(query: AttackQuery): { readonly result: readonly Attack[]; readonly total: number };
  /** Returns the attacks that have not ended, and the start times of all attacks since `sinceMs`. */
  unfinished(sinceMs: number): { readonly open: readonly Attack[]; readonly begun: readonly number[] };
}

export const RETENTION_DAYS = 90;
