import type { Attack, AttackEvent } from '../../dns/attacks/index.ts';
import type { Alerts, Condition, Details } from '../../platform/alerts/index.ts';

const ATTACK_KEYS = 'attack/';
/** Zones that an alert names. */
const MAX_ZONES_NAMED = 10;

type Teller = Pick<Alerts, 'begin' | 'end' | 'openKeys'>;

/** Tells of an attack that begins or ends. */
export function tellAttack({ kind, attack }: AttackEvent, alerts: Teller): void {
  if (kind === 'started') alerts.begin(conditionOf(attack));
  if (kind === 'ended') alerts.end(keyOf(attack), { text: endOf(attack), details: detailsOf(attack) });
}

/** After a start: what a kill kept from being told, of attacks that last and of those that are over. */
export function reconcileAttacks(open: readonly Attack[], alerts: Teller): void {
  for (const attack of open) alerts.begin(conditionOf(attack));
  const lasting = open.map(keyOf);
  for (const key of alerts.openKeys(ATTACK_KEYS))
    if (!lasting.includes(key))
      alerts.end(key, { text: 'The attack is over; it ended while the guard was away.' });
}

const keyOf = ({ id }: Attack): string => `${ATTACK_KEYS}${id}`;

function conditionOf(attack: Attack): Condition {
  const { now, noticed_by, rule } = attack;
  const inForce =
    rule === undefined
      ? 'No rule is in force: every query passes.'
      : `The rule in force is ${rule.id}, ${rule.mode}.`;
  const text =
    `Attack on ${zonesOf(attack)}, noticed by ${noticed_by.replaceAll('_', ' ')}: ${now.queries} queries a second, ` +
    `${now.unknown_names} of them for unknown names, ${now.refused} refused. ${inForce} ` +
    `\`floodgate dns attacks ${attack.id}\` tells more.`;
  return { key: keyOf(attack), kind: 'attack', subject: zonesOf(attack), text, details: detailsOf(attack) };
}

function endOf(attack: Attack): string {
  const { known_names: known, queries, refused, peak } = attack;
  const seconds = Math.round((Date.parse(attack.last_seen_on) - Date.parse(attack.started_on)) / 1000);
  return (
    `The attack on ${zonesOf(attack)} is over after ${seconds} s: ${queries} queries, at most ${peak.queries} a second, ` +
    `of which ${refused} were refused; of ${known.asked} for known names ${known.answered} were answered.`
  );
}

function zonesOf({ zones, zone_count }: Attack): string {
  const named = zones
    .slice(0, MAX_ZONES_NAMED)
    .map((zone) => (zone === '' ? 'names outside every known zone' : zone));
  const others = zone_count > named.length ? ` and ${zone_count - named.length} more` : '';
  return named.join(', ') + others;
}

function detailsOf(attack: Attack): Details {
  const { id, zones, zone_count, noticed_by, rule, started_on, last_seen_on, now, peak } = attack;
  const { queries, unknown_names, refused, would_refuse, known_names } = attack;
  return {
    ...{
      attack: id,
      zones: zones.slice(0, MAX_ZONES_NAMED),
      zone_count,
      noticed_by,
      started_on,
      last_seen_on,
    },
    ...(rule && { rule: rule.id, mode: rule.mode }),
    ...{ now, peak, queries, unknown_names, refused, would_refuse, known_names },
  };
}
