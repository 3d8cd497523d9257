import {
  type AccessEntry,
  type AccessListName,
  listChange,
  MAX_ENTRIES_PER_LIST,
  MAX_RULES_PER_ACCOUNT,
  MAX_ZONE_POLICIES,
  type NewAccessEntry,
  type NewRule,
  type Rule,
  type RuleFormat,
  ruleChange,
  TooManyEntries,
  TooManyRules,
  TooManyZonePolicies,
  targetOf,
  ZoneHasPolicy,
  type ZonePolicy,
  type ZonePolicySettings,
  zoneChange,
} from '../../index.ts';
import { LmdbAuditedRecords } from './auditedRecords.ts';
import type { AccountCount, ListCounts, RulesEnvironment } from './environment.ts';

/** Sorts after every rule id, which is a UUID. */
const LAST_ID = '\uffff';

/** Rules by account and id, with an index of their targets. */
export const rulesIn = (
  environment: RulesEnvironment,
  format: RuleFormat,
): LmdbAuditedRecords<Rule, NewRule, AccountCount> => {
  const { rules: records, accounts: states, targets } = environment;
  return new LmdbAuditedRecords(environment, {
    records,
    states,
    check([account], fields) {
      if ((states.get(account)?.count ?? 0) >= MAX_RULES_PER_ACCOUNT)
        throw new TooManyRules(account, MAX_RULES_PER_ACCOUNT);
      const start = [account, targetOf(fields)];
      return [...targets.getKeys({ start, end: [...start, LAST_ID] })].flatMap(([, , id]) => id ?? []);
    },
    stateOf: (_, before, added) => ({ count: (before?.count ?? 0) + added }),
    changeOf: ([account], rule) => ruleChange(account, rule),
    indexOf: (account, rule) => ({
      database: targets,
      key: [account, targetOf(rule), rule.id],
      value: true,
    }),
    complete: (rule) => format.withDefaults(rule),
    canonicalText: (fields) => format.canonicalText(fields),
  });
};

/** Zone policies by account and id, with an index by account and zone. */
export const zonePoliciesIn = (
  environment: RulesEnvironment,
): LmdbAuditedRecords<ZonePolicy, ZonePolicySettings, AccountCount> => {
  const { zonePolicies: records, zoneStates: states, zoneIds } = environment;
  return new LmdbAuditedRecords(environment, {
    records,
    states,
    check([account], { zone }) {
      const taken = zoneIds.get([account, zone]);
      if (taken !== undefined) throw new ZoneHasPolicy(zone, taken);
      if ((states.get(account)?.count ?? 0) >= MAX_ZONE_POLICIES)
        throw new TooManyZonePolicies(account, MAX_ZONE_POLICIES);
      return [];
    },
    stateOf: (_, before, added) => ({ count: (before?.count ?? 0) + added }),
    changeOf: ([account], policy) => zoneChange(account, policy),
    indexOf: (account, { zone, id }) => ({ database: zoneIds, key: [account, zone], value: id }),
  });
};

/** Entries of access lists by account, list and id. */
export const listEntriesIn = (
  environment: RulesEnvironment,
): LmdbAuditedRecords<AccessEntry, NewAccessEntry, ListCounts> => {
  const { listEntries: records, lists: states } = environment;
  const countIn = (list: string | undefined, state: ListCounts | undefined): number =>
    state?.counts[list as AccessListName] ?? 0;
  return new LmdbAuditedRecords(environment, {
    records,
    states,
    check([account, list]) {
      if (countIn(list, states.get(account)) >= MAX_ENTRIES_PER_LIST)
        throw new TooManyEntries(list as AccessListName, MAX_ENTRIES_PER_LIST);
      return [];
    },
    stateOf: ([, list = ''], before, added) => ({
      counts: { ...before?.counts, [list]: countIn(list, before) + added },
    }),
    changeOf: ([account, list], entry) => listChange(account, list as AccessListName, entry),
  });
};
