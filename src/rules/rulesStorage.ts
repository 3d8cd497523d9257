import type { AccessListStore } from './accessListStore.ts';
import type { AuditLog } from './audit.ts';
import type { RuleStore } from './ruleStore.ts';
import type { SharedDatabase } from './sharedDatabase.ts';
import type { TokenStore } from './tokenStore.ts';

/** The four stores of the rules room over one engine. */
export interface RulesStorage {
  readonly rules: RuleStore;
  readonly lists: AccessListStore;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  /** It is beyond this machine, and other instances use it, too: one that is without it for a while is not the worse for it. */
  readonly isShared: boolean;
  /** What others keep in the same database; undefined where the store is of this machine alone. */
  readonly shared: SharedDatabase | undefined;
  /** How long ago what is answered now was that of the store, where that is away; undefined where it is not. */
  readonly staleSeconds: number | undefined;
  /** How far the wall clock is behind the last change, for whoever tells of it; zero where it is not. */
  readonly clockBehindSeconds: number;
  /** Rejects with `StoreUnavailable` where the store does not take writes. */
  probe(): Promise<void>;
  /** Waits for writes that are under way, then closes. */
  close(): Promise<void>;
}
