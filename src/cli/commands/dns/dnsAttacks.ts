import { type Command, InvalidArgumentError } from 'commander';
import type { Attack, AttackChange, AttackSummary } from '../../../dns/attacks/index.ts';
import { isRuleId, wallClock } from '../../../rules/index.ts';
import { print } from '../../output/print.ts';
import { readMoment } from '../access/tokenTime.ts';
import { readAttack, readAttacks } from '../guardClient.ts';
import { addConnectionFlags, connect } from '../rules/rulesConnection.ts';
import { formatTable, momentOf, printable } from '../rules/rulesTable.ts';

const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;
const MOST_SHOWN = 5;

interface AttacksOptions {
  readonly since?: string;
  readonly until?: string;
  readonly limit?: number;
  readonly region?: string;
  readonly datacenter?: string;
  readonly json?: boolean;
}

/** `floodgate dns attacks [ID]`: lists the attacks of the last 90 days, or shows one in full. */
export function registerDnsAttacks(dns: Command): void {
  addConnectionFlags(dns.command('attacks').description('list attacks, or show one'))
    .argument('[id]', 'the attack to show', readAttackId)
    .option('--since <when>', 'only attacks that began after this time: a duration ago (24h, 7d) or a date')
    .option('--until <when>', 'only attacks that began before this time')
    .option('--region <name>', 'only attacks seen by guards in this region')
    .option('--datacenter <name>', 'only attacks seen by guards in this data center')
    .option(
      '--limit <number>',
      `number of latest attacks, at most ${MAX_LIMIT} (default ${DEFAULT_LIMIT})`,
      readLimit,
    )
    .option('--json', 'print one JSON object per line')
    .action(async (id: string | undefined, options: AttacksOptions, command: Command) => {
      const { client } = await connect(command);
      if (id !== undefined) {
        const attack = await readAttack(client, id);
        return print(options.json ? JSON.stringify(attack) : formatAttack(attack));
      }
      const attacks = await readAttacks(client, queryOf(options));
      if (options.json) for (const attack of attacks) await print(JSON.stringify(attack));
      else if (attacks.length === 0) await print('No attacks in this period.');
      else await print(formatTable(HEADINGS, attacks.map(rowOf)));
    });
}

function queryOf({
  since,
  until,
  region,
  datacenter,
  limit = DEFAULT_LIMIT,
}: AttacksOptions): Record<string, string> {
  const now = wallClock();
  return {
    per_page: String(limit),
    ...(since !== undefined && { since: readMoment(since, now, 'past') }),
    ...(until !== undefined && { until: readMoment(until, now, 'past') }),
    ...(region !== undefined && { region }),
    ...(datacenter !== undefined && { datacenter }),
  };
}

const HEADINGS = [
  'began (UTC)',
  'lasted',
  'zone',
  'peak/s',
  'queries',
  'limited',
  'would drop',
  'known answered',
  'id',
];

const rowOf = (attack: AttackSummary): string[] => [
  momentOf(attack.started_on),
  lastedOf(attack),
  zonesOf(attack, 1),
  String(attack.peak.queries),
  String(attack.queries),
  `${attack.limited} (${percent(attack.limited_share)})`,
  String(attack.would_drop),
  `${attack.known_names.answered} of ${attack.known_names.asked}`,
  attack.id,
];

function formatAttack(attack: Attack): string {
  const { rule, known_names: known, top } = attack;
  const codes = Object.entries(attack.response_codes).map(([code, many]) => `${code} ${many}`);
  return [
    `Attack     ${attack.id}`,
    `Zones      ${zonesOf(attack, 10)}`,
    `Began      ${momentOf(attack.started_on)} UTC, ${attack.state === 'active' ? 'still active' : `lasted ${lastedOf(attack)}`}`,
    `Noticed by ${attack.detected_by}${locationOf(attack)}`,
    `Rule       ${rule ? `${rule.id}  ${rule.mode}, profile ${rule.profile_sensitivity}` : 'none: every query passed'}`,
    `Peak       ${attack.peak.queries} queries/s, ${attack.peak.unknown_names}/s for unknown names, ${attack.peak.limited}/s limited, ${attack.peak.would_drop}/s would drop`,
    `Queries    ${attack.queries}, ${limitedOf(attack)}`,
    `Users      ${known.answered} of ${known.asked} queries for known names answered, ${known.limited} limited, ${known.would_drop} would drop`,
    `Answers    ${codes.join(', ') || 'none'}`,
    ...listOf(mostLimited(attack), top.names, top.weight),
    ...listOf('Query types', top.types, top.weight),
    ...listOf('Networks (addresses may be forged)', top.networks, top.weight),
    ...(attack.sampled_names.length > 0 ? ['', 'Sample of the names'] : []),
    ...attack.sampled_names.map(({ name, type, network }) => `  ${name} ${type} from ${network}`),
    ...(attack.changes.length > 0 ? ['', 'Changes'] : []),
    ...attack.changes.map((change) => `  ${momentOf(change.at)}  ${changeOf(change)}`),
  ]
    .map(printable)
    .join('\n');
}

/** Returns `1200 limited (60.0 %), 300 would drop (15.0 %)`. A query counts by the rule's mode when it arrived. */
export const limitedOf = ({ queries, limited, limited_share, would_drop }: AttackSummary): string =>
  `${limited} limited (${percent(limited_share)}), ${would_drop} would drop (${percent(would_drop / Math.max(1, queries))})`;

/** Returns the heading of `top.names`, a sample of the queries that were limited or would be dropped. */
export function mostLimited({ limited, would_drop }: AttackSummary): string {
  if (would_drop === 0) return 'Names limited most';
  return limited === 0 ? 'Names that would drop most' : 'Names that were limited or would drop most';
}

/** Returns the location of the guard that detected the attack. Empty if there is only one guard. */
function locationOf({ instance, region, datacenter }: Attack): string {
  const place = [region, datacenter].filter((part) => part !== undefined).join(' ');
  return instance === undefined ? '' : `, at ${place === '' ? instance : place}`;
}

export function listOf(heading: string, list: Attack['top']['names'], weight: number): string[] {
  if (list.length === 0) return [];
  const lines = list
    .slice(0, MOST_SHOWN)
    .map(({ value, count }) => `  ${percent(count / Math.max(1, weight)).padStart(6)}  ${value}`);
  return ['', heading, ...lines].map(printable);
}

function changeOf({ kind, rule, zone, queries_per_second: peak }: AttackChange): string {
  if (kind === 'rule') return rule ? `rule ${rule.id}: ${rule.mode}` : 'no rule in force';
  if (kind === 'zone') return `another zone: ${zone === '' ? OUTSIDE : zone}`;
  return kind === 'peak' ? `peak doubled: ${peak} queries/s` : 'the guard was restarted';
}

const OUTSIDE = '(outside every known zone)';

export function zonesOf({ zones, zone_count }: AttackSummary, most: number): string {
  const named = zones.slice(0, most).map((zone) => (zone === '' ? OUTSIDE : zone));
  const others = zone_count > named.length ? ` and ${zone_count - named.length} more` : '';
  return printable(named.join(', ') + others);
}

const percent = (share: number): string => `${(Math.min(1, share) * 100).toFixed(1)} %`;

function lastedOf({ started_on, last_seen_on, state }: AttackSummary): string {
  const seconds = Math.round((Date.parse(last_seen_on) - Date.parse(started_on)) / 1000);
  const span = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return state === 'active' ? `${span}, active` : span;
}

function readAttackId(value: string): string {
  if (!isRuleId(value)) throw new InvalidArgumentError('The id of an attack is a UUID.');
  return value;
}

function readLimit(value: string): number {
  if (!/^[1-9]\d{0,2}$/.test(value) || Number(value) > MAX_LIMIT)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LIMIT}.`);
  return Number(value);
}
