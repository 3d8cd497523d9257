import { join } from 'node:path';
import {
  type AccessListStore,
  type AuditLog,
  type Micros,
  type RuleFormat,
  type RuleStore,
  ruleFormat,
  type TokenStore,
} from '../../index.ts';
import { LmdbAccessListStore } from './accessListStore.ts';
import { LmdbAuditLog } from './auditLog.ts';
import { RulesEnvironment } from './environment.ts';
import { LmdbRuleStore } from './ruleStore.ts';
import { LmdbTokenStore } from './tokenStore.ts';

/** The four stores of the rules room over one engine. */
export interface RulesStorage {
  readonly rules: RuleStore;
  readonly lists: AccessListStore;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  /** How far the wall clock is behind the last change, for whoever tells of it; zero where it is not. */
  readonly clockBehindSeconds: number;
  /** Writes and reads back. Rejects with `StoreUnavailable` where the store does not take writes. */
  probe(): Promise<void>;
  /** Waits for writes that are under way, then closes. */
  close(): Promise<void>;
}

export interface RulesStorageOptions {
  /** The clock that changes are stamped with; the wall clock unless a test needs another. */
  readonly now?: () => Micros;
  /** The fields that rules have. */
  readonly format?: RuleFormat;
}

/** Opens the rules, tokens and audit kept in `${dataDir}/rules`. Throws `StoreUnavailable` where that cannot be. */
export function openRulesStorage(dataDir: string, options: RulesStorageOptions = {}): RulesStorage {
  const environment = new RulesEnvironment(join(dataDir, 'rules'), options.now);
  const rules = new LmdbRuleStore(environment, options.format ?? ruleFormat);
  const lists = new LmdbAccessListStore(environment);
  return {
    rules,
    lists,
    tokens: new LmdbTokenStore(environment),
    audit: new LmdbAuditLog(environment),
    clockBehindSeconds: Math.round(environment.behindMicros / 1_000_000),
    probe: () => environment.probe(),
    async close() {
      rules.close();
      lists.close();
      await environment.close();
    },
  };
}
