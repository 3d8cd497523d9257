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
import { PostgresAuditedRecords } from './auditedRecords.ts';
import { statement } from './connection/statement.ts';
import type { StoreParts } from './storeParts.ts';

const COMPETING_RULES = `SELECT (SELECT count(*) FROM floodgate.rules WHERE account = $1) AS count,
  ARRAY(SELECT id FROM floodgate.rules WHERE account = $1 AND target = $2 ORDER BY id) AS ids`;
const COMPETING_POLICIES = `SELECT (SELECT count(*) FROM floodgate.zone_policies WHERE account = $1) AS count,
  (SELECT id FROM floodgate.zone_policies WHERE account = $1 AND zone = $2) AS id`;
const ENTRIES = 'SELECT count(*) AS count FROM floodgate.list_entries WHERE account = $1 AND list = $2';

export const rulesIn = (parts: StoreParts, format: RuleFormat): PostgresAuditedRecords<Rule, NewRule> =>
  new PostgresAuditedRecords(parts, {
    table: 'rules',
    column: 'rule',
    changedAt: 'rules_changed_at',
    listeners: parts.feed.rules,
    inScope: (rules) => rules,
    async check(transaction, [account], fields) {
      const query = statement<{ count: number; ids: string[] }>(COMPETING_RULES, [account, targetOf(fields)]);
      const [{ count, ids } = { count: 0, ids: [] }] = await transaction.read(query);
      if (count >= MAX_RULES_PER_ACCOUNT) throw new TooManyRules(account, MAX_RULES_PER_ACCOUNT);
      return ids;
    },
    columnsOf: (fields) => ({ target: targetOf(fields) }),
    changeOf: ([account], rule) => ruleChange(account, rule),
    complete: (rule) => format.withDefaults(rule),
    completeCached: (rule) => format.withDefaults(rule),
    canonicalText: (fields) => format.canonicalText(fields),
  });

export const zonePoliciesIn = (parts: StoreParts): PostgresAuditedRecords<ZonePolicy, ZonePolicySettings> =>
  new PostgresAuditedRecords(parts, {
    table: 'zone_policies',
    column: 'policy',
    changedAt: 'zones_changed_at',
    listeners: parts.feed.zones,
    inScope: (policies) => policies,
    async check(transaction, [account], { zone }) {
      const query = statement<{ count: number; id: string | null }>(COMPETING_POLICIES, [account, zone]);
      const [{ count, id } = { count: 0, id: null }] = await transaction.read(query);
      if (id !== null) throw new ZoneHasPolicy(zone, id);
      if (count >= MAX_ZONE_POLICIES) throw new TooManyZonePolicies(account, MAX_ZONE_POLICIES);
      return [];
    },
    columnsOf: ({ zone }) => ({ zone }),
    changeOf: ([account], policy) => zoneChange(account, policy),
  });

/** Entry of an access list in the cache, which contains both lists of an account. */
interface Listed {
  readonly list: string;
  readonly entry: AccessEntry;
}

export const listEntriesIn = (
  parts: StoreParts,
): PostgresAuditedRecords<AccessEntry, NewAccessEntry, Listed> =>
  new PostgresAuditedRecords(parts, {
    table: 'list_entries',
    column: 'entry',
    changedAt: 'lists_changed_at',
    listeners: parts.feed.lists,
    cachedAs: `CASE WHEN id IS NOT NULL THEN json_build_object('list', list, 'entry', entry) END`,
    inScope: (listed: readonly Listed[], [, list]) =>
      listed.filter((one) => one.list === list).map(({ entry }) => entry),
    async check(transaction, [account, list]) {
      const [row] = await transaction.read(statement<{ count: number }>(ENTRIES, [account, list]));
      if ((row?.count ?? 0) >= MAX_ENTRIES_PER_LIST)
        throw new TooManyEntries(list as AccessListName, MAX_ENTRIES_PER_LIST);
      return [];
    },
    columnsOf: () => ({}),
    changeOf: ([account, list], entry) => listChange(account, list as AccessListName, entry),
  });
