import type { MinuteRecord } from '../analytics/index.ts';
import type { Attack } from '../attacks/index.ts';

/** Counts in the guard's own store. Unreported records are read from here, so they expire with it. */
export interface LocalRecords {
  /** Returns minutes in order, after (exclusive) a minute and rule id. */
  minutesAfter(after: readonly [minute: number, ruleId: string], limit: number): readonly MinuteRecord[];
  /** Returns attacks by start time, after (exclusive) a start time and id. */
  attacksAfter(after: readonly [startedMs: number, id: string], limit: number): readonly Attack[];
  attack(id: string): Attack | undefined;
}

export interface Identity {
  readonly id: string;
  readonly account: string;
  /** Counts before this time belong to another account or are reported by another guard. */
  readonly sinceMs: number;
}

export interface IdentityStore {
  identity(): Identity | undefined;
  setIdentity(identity: Identity): Promise<void>;
}
