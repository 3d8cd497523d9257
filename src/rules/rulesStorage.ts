import type { AccessListStore } from './accessListStore.ts';
import type { AuditLog } from './audit.ts';
import type { RuleStore } from './ruleStore.ts';
import type { SharedDatabase } from './sharedDatabase.ts';
import type { TokenStore } from './tokens/tokenStore.ts';

/** The four rules stores of one storage engine. */
export interface RulesStorage {
  readonly rules: RuleStore;
  readonly lists: AccessListStore;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  /** Whether instances share the store. Then an outage affects all instances and does not make this one unready. */
  readonly isShared: boolean;
  /** Other data in the shared database; undefined for a local store. */
  readonly shared: SharedDatabase | undefined;
  /** Age in seconds of the cached data in use while the store is unavailable; undefined while it is available. */
  readonly staleSeconds: number | undefined;
  /** Seconds by which the wall clock is behind the time of the last change; 0 if it is not behind. */
  readonly clockBehindSeconds: number;
  /** Rejects with `StoreUnavailable` if the store does not accept writes. */
  probe(): Promise<void>;
  /** Waits for pending writes, then closes. */
  close(): Promise<void>;
}
