import type { MinuteRecord } from '../analytics/index.ts';
import type { Attack } from '../attacks/index.ts';

/** The guard's own store, from which records are reported. Records expire in it even if they were not reported. */
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
