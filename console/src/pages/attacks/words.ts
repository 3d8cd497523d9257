import type { Attack, AttackSummary, HeavyHitter } from '../../api/types.ts';
import { numberText, percentText } from '../../ui/quantity.tsx';
import { durationOf } from '../../ui/time.tsx';
import { visible } from '../../ui/visible.ts';

/** What lies outside every known zone has an empty name. */
const zoneName = (name: string): string => (name === '' ? 'names outside every known zone' : name);

/** `example.com, example.org and 3 more` */
export function zonesText(
  { zones, zone_count: count }: Pick<AttackSummary, 'zones' | 'zone_count'>,
  most: number,
): string {
  const named = zones.slice(0, most).map(zoneName);
  const rest = count - named.length;
  if (count === 0) return 'no zone';
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

/** Where it was seen, `AMS, WEUR`: which guard, where that one has no place; undefined where there is only one guard. */
export function placeText({ instance, region, datacenter }: Seen): string | undefined {
  const named = [datacenter, region].filter((name) => name !== undefined);
  if (named.length > 0) return named.join(', ');
  return instance === undefined ? undefined : `guard ${instance.slice(0, 8)}`;
}

type Seen = Pick<AttackSummary, 'instance' | 'region' | 'datacenter'>;

/** Which of these guards there are, as far as they say which they are. */
export const guardsOf = (seen: readonly Seen[]): ReadonlySet<string> =>
  new Set(seen.flatMap(({ instance }) => instance ?? []));

export const noticedWords: Readonly<Record<AttackSummary['noticed_by'], string>> = {
  unknown_rate: 'more names that nobody knows than the alarm allows',
  unknown_share: 'a share of unknown names far above the usual',
  nxdomain_share: 'a share of NXDOMAIN far above the usual',
  zone_rate: 'more queries than a zone that is judged by rate may have',
  known_refused: 'more queries for known names, beyond what is usual, than may be asked',
  account_rate: 'more queries to all zones together than usual',
  earlier_run: 'an earlier run: it was found at the start',
};

/** How long it was an attack. */
export const lastedMs = ({ started_on, last_seen_on }: AttackSummary): number =>
  Date.parse(last_seen_on) - Date.parse(started_on);

export const usersText = ({ known_names: { asked, answered, refused } }: AttackSummary): string =>
  asked === 0
    ? 'nobody asked'
    : `${percentText(answered / asked)} answered${refused > 0 ? `, ${numberText(refused)} refused` : ''}`;

/** How much of what was looked at one of them was. */
export const shareOf = ({ count }: HeavyHitter, weight: number): number =>
  weight === 0 ? 0 : Math.min(1, count / weight);

const REPORTED = 10;

/** The attack as text for colleagues: times in UTC, names as the guard writes them. */
export function reportOf(attack: Attack): string {
  const { now, peak, rule, top } = attack;
  const place = placeText(attack);
  const list = (title: string, hitters: readonly HeavyHitter[]) =>
    hitters.length === 0
      ? []
      : [
          '',
          `${title}:`,
          ...hitters
            .slice(0, REPORTED)
            .map((one) => `  ${percentText(shareOf(one, top.weight)).padStart(8)}  ${visible(one.value)}`),
        ];
  return [
    `Attack on ${visible(zonesText(attack, REPORTED))}`,
    `  id            ${attack.id}`,
    ...(place === undefined ? [] : [`  seen at       ${visible(place)}`]),
    `  began         ${attack.started_on}`,
    `  ${attack.ended_on === undefined ? `lasts         last seen ${attack.last_seen_on}` : `ended         ${attack.ended_on}`}`,
    `  lasted        ${durationOf(lastedMs(attack))}`,
    `  noticed by    ${noticedWords[attack.noticed_by]}`,
    `  queries       ${numberText(attack.queries)}, ${numberText(attack.unknown_names)} of them for unknown names`,
    `  a second      ${attack.ended_on === undefined ? `${numberText(now.queries)} now, ` : ''}${numberText(peak.queries)} at most`,
    `  refused       ${numberText(attack.refused)} (${percentText(attack.refused_share)}); would have been ${numberText(attack.would_refuse)}`,
    `  users         ${usersText(attack)}`,
    `  rule          ${rule === undefined ? 'none in force' : `${rule.id}, ${rule.mode}`}`,
    ...list('Names refused most', top.names),
    ...list('Networks (addresses over UDP may be forged)', top.networks),
    ...list('Query types', top.types),
    '',
  ].join('\n');
}
