import type { Attack, AttackSummary, HeavyHitter } from '../../api/types.ts';
import { escapeInvisible } from '../../ui/value/escapeInvisible.ts';
import { formatNumber, formatPercent } from '../../ui/value/quantity.tsx';
import { formatDuration } from '../../ui/value/time.tsx';

/** Returns a zone's name as text. The guard reports an empty name for names outside every known zone. */
const zoneName = (name: string): string => (name === '' ? 'names outside every known zone' : name);

/** Returns the attacked zones as text, such as `example.com, example.org and 3 more`. */
export function zonesText(
  { zones, zone_count: count }: Pick<AttackSummary, 'zones' | 'zone_count'>,
  most: number,
): string {
  const named = zones.slice(0, most).map(zoneName);
  const rest = count - named.length;
  if (count === 0) return 'no zone';
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

/** Returns the location of the guard that reported an attack (`AMS, WEUR`), else its id; undefined if unknown. */
export function locationText({ instance, region, datacenter }: AttackOrigin): string | undefined {
  const named = [datacenter, region].filter((name) => name !== undefined);
  if (named.length > 0) return named.join(', ');
  return instance === undefined ? undefined : `guard ${instance.slice(0, 8)}`;
}

type AttackOrigin = Pick<AttackSummary, 'instance' | 'region' | 'datacenter'>;

export const detectionReasons: Readonly<Record<AttackSummary['detected_by'], string>> = {
  unknown_rate: 'rate of unknown names above the alarm threshold',
  unknown_share: 'share of unknown names far above the baseline',
  nxdomain_share: 'share of NXDOMAIN far above the baseline',
  zone_rate: 'query rate above the rate limit of the zone',
  known_limited: 'limited queries for known names, above their usual rates',
  account_rate: 'rate of unknown names in all zones of the account',
  earlier_run: 'report of an earlier run',
};

export const attackDurationMs = ({ started_on, last_seen_on }: AttackSummary): number =>
  Date.parse(last_seen_on) - Date.parse(started_on);

export const usersText = ({ known_names: { asked, answered, limited } }: AttackSummary): string =>
  asked === 0
    ? 'no queries'
    : `${formatPercent(answered / asked)} answered${limited > 0 ? `, ${formatNumber(limited)} limited` : ''}`;

/**
 * Returns the heading of an attack's top lists, which are of sampled queries that were limited or would be dropped.
 */
export function topHeading({ limited, would_drop }: Limits): string {
  if (would_drop === 0) return 'Limited most';
  return limited === 0 ? 'Would be dropped most' : 'Limited most, or would be dropped';
}

type Limits = Pick<AttackSummary, 'limited' | 'would_drop'>;

export const shareOf = ({ count }: HeavyHitter, weight: number): number =>
  weight === 0 ? 0 : Math.min(1, count / weight);

const REPORTED = 10;

/** Returns a report of an attack as plain text. Times are in UTC, names as the guard writes them. */
export function reportOf(attack: Attack): string {
  const { now, peak, rule, top } = attack;
  const place = locationText(attack);
  const list = (title: string, hitters: readonly HeavyHitter[]) =>
    hitters.length === 0
      ? []
      : [
          '',
          `${title}:`,
          ...hitters
            .slice(0, REPORTED)
            .map(
              (one) =>
                `  ${formatPercent(shareOf(one, top.weight)).padStart(8)}  ${escapeInvisible(one.value)}`,
            ),
        ];
  return [
    `Attack on ${escapeInvisible(zonesText(attack, REPORTED))}`,
    `  id            ${attack.id}`,
    ...(place === undefined ? [] : [`  seen at       ${escapeInvisible(place)}`]),
    `  started       ${attack.started_on}`,
    `  ${attack.ended_on === undefined ? `active        last seen ${attack.last_seen_on}` : `ended         ${attack.ended_on}`}`,
    `  duration      ${formatDuration(attackDurationMs(attack))}`,
    `  detected by   ${detectionReasons[attack.detected_by]}`,
    `  queries       ${formatNumber(attack.queries)} (${formatNumber(attack.unknown_names)} for unknown names)`,
    `  queries/s     ${attack.ended_on === undefined ? `${formatNumber(now.queries)} now, ` : ''}peak ${formatNumber(peak.queries)}`,
    `  limited       ${formatNumber(attack.limited)} (${formatPercent(attack.limited_share)}); would be dropped: ${formatNumber(attack.would_drop)}`,
    `  users         ${usersText(attack)}`,
    `  rule          ${rule === undefined ? 'none in force' : `${rule.id}, ${rule.mode}`}`,
    ...list(`Names: ${topHeading(attack).toLowerCase()}`, top.names),
    ...list('Networks (addresses over UDP may be spoofed)', top.networks),
    ...list('Query types', top.types),
    '',
  ].join('\n');
}
