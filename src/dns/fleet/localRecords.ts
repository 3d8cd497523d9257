import type { MinuteRecord } from '../analytics/index.ts';
import type { Attack } from '../attacks/index.ts';

/** The store of this guard, from which it reports records to the fleet. Records expire even if not reported yet. */
export interface LocalRecords {
  /** Returns at most `limit` records in the order of minute and rule id, starting after the given pair. */
  minutesAfter(after: readonly [minute: number, ruleId: string], limit: number): readonly MinuteRecord[];
  /** Returns at most `limit` attacks in the order of start time and id, starting after the given pair. */
  attacksAfter(after: readonly [startedMs: number, id: string], limit: number): readonly Attack[];
  attack(id: string): Attack | undefined;
}

export interface Identity {
  readonly id: string;
  readonly account: string;
  /** Time, in milliseconds. Older records in the store belong to another account, or another guard reports them. */
  readonly sinceMs: number;
}

export interface IdentityStore {
  identity(): Identity | undefined;
  setIdentity(identity: Identity): Promise<void>;
}
