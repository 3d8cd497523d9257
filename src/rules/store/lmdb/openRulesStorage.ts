import { join } from 'node:path';
import { type Micros, type RuleFormat, type RulesStorage, ruleFormat } from '../../index.ts';
import { LmdbAccessListStore } from './accessListStore.ts';
import { LmdbAuditLog } from './auditLog.ts';
import { RulesEnvironment } from './environment.ts';
import { LmdbRuleStore } from './ruleStore.ts';
import { LmdbTokenStore } from './tokenStore.ts';
import { assertFinished } from './wholeRules.ts';

export interface RulesStorageOptions {
  /** The clock that changes are stamped with; the wall clock unless a test needs another. */
  readonly now?: () => Micros;
  /** The fields that rules have. */
  readonly format?: RuleFormat;
}

/** Opens the rules, tokens and audit kept in `${dataDir}/rules`. Throws `StoreUnavailable` where that cannot be. */
export function openRulesStorage(dataDir: string, options: RulesStorageOptions = {}): RulesStorage {
  assertFinished(dataDir);
  const environment = RulesEnvironment.open(join(dataDir, 'rules'), options.now);
  const rules = new LmdbRuleStore(environment, options.format ?? ruleFormat);
  const lists = new LmdbAccessListStore(environment);
  return {
    rules,
    lists,
    tokens: new LmdbTokenStore(environment),
    audit: new LmdbAuditLog(environment),
    isShared: false,
    shared: undefined,
    staleSeconds: undefined,
    clockBehindSeconds: Math.round(environment.behindMicros / 1_000_000),
    probe: () => environment.probe(),
    async close() {
      rules.close();
      lists.close();
      await environment.close();
    },
  };
}
