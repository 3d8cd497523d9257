import type { AuditLog } from './audit.ts';
import type { RecordStores } from './recordStore.ts';
import type { SharedDatabase } from './sharedDatabase.ts';
import type { SessionStore } from './tokens/session.ts';
import type { TokenStore } from './tokens/tokenStore.ts';

/** The stores of rules, access lists, zone policies, tokens and audit entries in one storage engine. */
export interface RulesStorage extends RecordStores {
  readonly tokens: TokenStore;
  readonly sessions: SessionStore;
  readonly audit: AuditLog;
  /**
   * Whether several instances share the store. An outage of a shared store affects all of them, so it does not make
   * one instance unready.
   */
  readonly isShared: boolean;
  /** Access to other data in the shared database; undefined for a local store. */
  readonly shared: SharedDatabase | undefined;
  /** Age in seconds of the cached data that is used while the store is unavailable; undefined if it is available. */
  readonly staleSeconds: number | undefined;
  /** Seconds by which the wall clock is behind the time of the store's last change; 0 if it is not behind. */
  readonly clockBehindSeconds: number;
  /** Rejects with `StoreUnavailable` if the store does not accept writes. */
  probe(): Promise<void>;
  /** Waits for pending writes, then closes the store. */
  close(): Promise<void>;
}
