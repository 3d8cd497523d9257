import type { Attack } from './attack.ts';

/** Which attacks are looked for, and which page of them: the one that began last first. */
export interface AttackQuery {
  /** Those that began from then on, and before then. */
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly page: number;
  readonly perPage: number;
}

/** Keeps attacks until they are forgotten: {@link KEPT_DAYS} days after they began. */
export interface AttackStore {
  /** Stores attacks as they stand now, in place of what was stored of them. */
  putAttacks(attacks: readonly Attack[]): Promise<void>;
  /** Forgets those that began before then and have ended. */
  forgetAttacks(beforeMs: number): Promise<void>;
  attack(id: string): Attack | undefined;
  attacks(query: AttackQuery): { readonly result: readonly Attack[]; readonly total: number };
  /** Those that had not ended, and how many began since then. */
  unfinished(sinceMs: number): { readonly open: readonly Attack[]; readonly begun: readonly number[] };
}

export const KEPT_DAYS = 90;
