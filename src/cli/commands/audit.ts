import { type Command, InvalidArgumentError } from 'commander';
import type { GatewayKeyChange } from '../../rules/api/index.ts';
import {
  type AuditFilter,
  type AuditView,
  auditFormatter,
  periodFaults,
  ruleFormat,
  wallClock,
  type ZonePolicy,
  zonePolicyChanges,
} from '../../rules/index.ts';
import { UsageError } from '../operatorError.ts';
import { print } from '../output/print.ts';
import { addAccessFlags, OperatorApi } from './access/overApi.ts';
import { withStorage } from './access/tokenStorage.ts';
import { readMoment } from './access/tokenTime.ts';
import { readAccountId, readRuleId } from './idArguments.ts';
import { formatTable } from './rules/rulesTable.ts';

const DEFAULT_LIMIT = 100;
/** Entries of one response of the rules API. */
const PAGE_SIZE = 1000;

interface AuditOptions {
  readonly account?: string;
  readonly rule?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `floodgate audit`: shows the audit log. Reads the store of the rules directly, even while a server runs, or uses the API. */
export function registerAudit(program: Command): void {
  const audit = program
    .command('audit')
    .description(
      'show changes of rules, access lists, zone policies, tokens and (over the API) API keys, and forgotten zones: time, actor, source address, old and new values',
    )
    .option(
      '--account <id>',
      'only rules, lists and zone policies of this account; over the API: default as in `floodgate rules`',
      readAccountId,
    )
    .option('--rule <id>', 'only this rule', readRuleId)
    .option(
      '--since <when>',
      'start of the period: a duration ago (24h, 7d) or a date (2026-11-20T12:00:00Z)',
    )
    .option('--until <when>', 'end of the period, in the same form')
    .option('--limit <number>', `number of latest entries (default ${DEFAULT_LIMIT})`, readLimit)
    .option('--all', 'all entries')
    .option('--json', 'print one complete JSON object per line')
    .action(showAudit);
  addAccessFlags(audit);
}

async function showAudit(options: AuditOptions, command: Command): Promise<void> {
  const now = wallClock();
  const filter: AuditFilter = {
    account: options.account,
    rule: options.rule?.toLowerCase(),
    since: options.since === undefined ? undefined : readMoment(options.since, now, 'past'),
    until: options.until === undefined ? undefined : readMoment(options.until, now, 'past'),
  };
  if (periodFaults(filter.since, filter.until).length > 0)
    throw new UsageError('--since must not be after --until');
  const limit = options.all ? Number.POSITIVE_INFINITY : (options.limit ?? DEFAULT_LIMIT);
  const api = OperatorApi.of(command);
  if (api !== undefined) return showApiAudit(api, { filter, limit, isJson: options.json === true });
  await withStorage(command, async ({ audit }) => {
    // Without a limit, entries are printed as they are read, because the audit log may exceed memory.
    if (limit === Number.POSITIVE_INFINITY && options.json) {
      for await (const entry of audit.read(filter)) await print(JSON.stringify(viewOf(entry)));
      return;
    }
    const latest: AuditView[] = [];
    for await (const entry of audit.read(filter, { newestFirst: true })) {
      if (latest.length >= limit) break;
      latest.push(viewOf(entry));
    }
    await printEntries(latest.reverse(), options.json === true);
  });
}

/** The API also returns changes of API keys. */
type Entry = AuditView | GatewayKeyChange;

const viewOf = auditFormatter(ruleFormat);

interface Shown {
  readonly filter: AuditFilter;
  readonly limit: number;
  readonly isJson: boolean;
}

/** Shows the audit of an account over the rules API. */
async function showApiAudit(api: OperatorApi, { filter, limit, isJson }: Shown): Promise<void> {
  const { account = await api.account(), rule, since, until } = filter;
  const query = new URLSearchParams({ per_page: String(Math.min(limit, PAGE_SIZE)) });
  for (const [name, value] of Object.entries({ rule_id: rule, since, until }))
    if (value !== undefined) query.set(name, value);
  const entries: Entry[] = [];
  for (;;) {
    const page = await api.get<readonly Entry[]>(
      `/accounts/${encodeURIComponent(account)}/network/advanced_dns_protection/configs/dns_protection/audit?${query}`,
    );
    entries.push(...page.result);
    if (page.cursor === undefined || entries.length >= limit) break;
    query.set('cursor', page.cursor);
  }
  await printEntries(entries.slice(0, limit).reverse(), isJson);
}

async function printEntries(entries: readonly Entry[], isJson: boolean): Promise<void> {
  if (isJson) for (const entry of entries) await print(JSON.stringify(entry));
  else
    await print(
      formatTable(['when (UTC)', 'who', 'from', 'what', 'account', 'id', 'change'], entries.map(rowOf)),
    );
}

function rowOf(entry: Entry): string[] {
  const when = entry.at.slice(0, 23).replace('T', ' ');
  const who = entry.label === undefined ? entry.by : `${entry.by} (${entry.label})`;
  const start = [when, who, entry.from, entry.action];
  if ('list' in entry) return [...start, entry.account, entry.entry, entryChangeOf(entry)];
  if (entry.action === 'zone.forget') return [...start, entry.account, entry.policy, entry.zone];
  if ('zone' in entry) return [...start, entry.account, entry.policy, policyChangeOf(entry)];
  if ('key' in entry) return [...start, '', entry.key, (entry.after ?? entry.before)?.name ?? ''];
  if (!('rule' in entry)) return [...start, '', entry.token, entry.after?.label ?? ''];
  return [...start, entry.account, entry.rule, ruleChangeOf(entry)];
}

function entryChangeOf({ list, before, after }: Extract<AuditView, { list: string }>): string {
  const entry = after ?? before;
  if (!entry) return list;
  const subject = 'prefix' in entry ? entry.prefix : entry.name;
  return `${list}: ${subject}, ${entry.enabled ? 'enabled' : 'not enabled'}`;
}

function policyChangeOf({ zone, before, after }: Extract<AuditView, { policy: string }>): string {
  if (!before || !after) return `${zone}, ${(after ?? before)?.mode}`;
  const changes = Object.entries(zonePolicyChanges(before, after));
  const texts = changes.map(([member, value]) => {
    const old = before[member as keyof ZonePolicy]; // the changes have members of a policy
    return `${member}: ${old} → ${value}`;
  });
  return `${zone}: ${texts.join(', ')}`;
}

function ruleChangeOf({ before, after }: Extract<AuditView, { rule: string }>): string {
  const rule = after ?? before;
  if (!rule) return '';
  if (!before || !after) return `${rule.scope} ${rule.name}, ${rule.mode}`;
  const changed = ruleFormat.settingMembers.filter((member) => before[member] !== after[member]);
  return changed.map((member) => `${member}: ${before[member]} → ${after[member]}`).join(', ');
}

function readLimit(value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It must be a whole number from 1.');
  return Number(value);
}
