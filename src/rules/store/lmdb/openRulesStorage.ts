import { join } from 'node:path';
import { type Micros, type RuleFormat, type RulesStorage, ruleFormat } from '../../index.ts';
import { LmdbAccessListStore } from './accessListStore.ts';
import { LmdbAuditLog } from './auditLog.ts';
import { RulesEnvironment } from './environment.ts';
import { LmdbRuleStore } from './ruleStore.ts';
import { LmdbSessionStore } from './sessionStore.ts';
import { LmdbTokenStore } from './tokenStore.ts';
import { LmdbZonePolicyStore } from './zonePolicyStore.ts';

export interface RulesStorageOptions {
  /** Returns the current time, for the times of changes. Default: the wall clock. */
  readonly now?: () => Micros;
  readonly format?: RuleFormat;
}

/** Opens the stores in `${dataDir}/rules`. Throws `StoreUnavailable` if the folder cannot be opened. */
export function openRulesStorage(dataDir: string, options: RulesStorageOptions = {}): RulesStorage {
  const environment = RulesEnvironment.open(join(dataDir, 'rules'), options.now);
  const rules = new LmdbRuleStore(environment, options.format ?? ruleFormat);
  const lists = new LmdbAccessListStore(environment);
  const zonePolicies = new LmdbZonePolicyStore(environment);
  return {
    rules,
    lists,
    zonePolicies,
    tokens: new LmdbTokenStore(environment),
    sessions: new LmdbSessionStore(environment),
    audit: new LmdbAuditLog(environment),
    isShared: false,
    shared: undefined,
    staleSeconds: undefined,
    clockBehindSeconds: Math.round(environment.behindMicros / 1_000_000),
    probe: () => environment.probe(),
    async close() {
      rules.close();
      lists.close();
      zonePolicies.close();
      await environment.close();
    },
  };
}
