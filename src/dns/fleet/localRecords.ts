import type { MinuteRecord } from '../analytics/index.ts';
import type { Attack } from '../attacks/index.ts';

/** What a guard has counted, as it is kept here: what it still has to tell is in it, and no longer than it is kept. */
export interface LocalRecords {
  /** From a minute and rule on, those excluded, in their order. */
  minutesAfter(after: readonly [minute: number, ruleId: string], limit: number): readonly MinuteRecord[];
  /** From a moment and id on, those excluded, by when they began. */
  attacksAfter(after: readonly [startedMs: number, id: string], limit: number): readonly Attack[];
  attack(id: string): Attack | undefined;
}

/** Who a guard is. */
export interface Identity {
  readonly id: string;
  readonly account: string;
  /** What was counted before was counted for another account, or is told by another guard. */
  readonly sinceMs: number;
}

export interface IdentityStore {
  identity(): Identity | undefined;
  setIdentity(identity: Identity): Promise<void>;
}
