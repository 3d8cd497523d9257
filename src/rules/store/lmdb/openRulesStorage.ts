import { join } from 'node:path';
import { type Micros, type RuleFormat, type RulesStorage, recordStoresOf, ruleFormat } from '../../index.ts';
import { LmdbAuditLog } from './auditLog.ts';
import { RulesEnvironment } from './environment.ts';
import { listEntriesIn, rulesIn, zonePoliciesIn } from './recordKinds.ts';
import { LmdbSessionStore } from './sessionStore.ts';
import { LmdbTokenStore } from './tokenStore.ts';

export interface RulesStorageOptions {
  /** Returns the current time, for the times of changes. Default: the wall clock. */
  readonly now?: () => Micros;
  readonly format?: RuleFormat;
}

/** Opens the stores in `${dataDir}/rules`. Throws `StoreUnavailable` if the folder cannot be opened. */
export function openRulesStorage(dataDir: string, options: RulesStorageOptions = {}): RulesStorage {
  const environment = RulesEnvironment.open(join(dataDir, 'rules'), options.now);
  const records = {
    rules: rulesIn(environment, options.format ?? ruleFormat),
    lists: listEntriesIn(environment),
    zonePolicies: zonePoliciesIn(environment),
  };
  return {
    ...recordStoresOf(records),
    tokens: new LmdbTokenStore(environment),
    sessions: new LmdbSessionStore(environment),
    audit: new LmdbAuditLog(environment),
    isShared: false,
    shared: undefined,
    staleSeconds: undefined,
    clockBehindSeconds: Math.round(environment.behindMicros / 1_000_000),
    probe: () => environment.probe(),
    async close() {
      for (const kind of Object.values(records)) kind.close();
      await environment.close();
    },
  };
}
