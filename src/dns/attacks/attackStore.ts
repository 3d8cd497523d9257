import type { Attack } from './attack.ts';

/** Selects one page of a list of attacks, which is sorted by start time, newest first. */
export interface AttackQuery {
  /** Earliest start time of an attack (inclusive). */
  readonly sinceMs?: number | undefined;
  /** Latest start time of an attack (exclusive). */
  readonly untilMs?: number | undefined;
  readonly page: number;
  readonly perPage: number;
}

/** Stores attacks for {@link RETENTION_DAYS} days after their start. */
export interface AttackStore {
  putAttacks(attacks: readonly Attack[]): Promise<void>;
  /** Deletes the attacks that started before this time and have ended. */
  deleteAttacks(beforeMs: number): Promise<void>;
  attack(id: string): Attack | undefined;
  attacks(query: AttackQuery): { readonly result: readonly Attack[]; readonly total: number };
  /** Returns the attacks that have not ended, and the start times of all attacks since `sinceMs`. */
  unfinished(sinceMs: number): { readonly open: readonly Attack[]; readonly begun: readonly number[] };
}

export const RETENTION_DAYS = 90;
