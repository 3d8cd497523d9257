import type { Attack, AttackEvent } from '../../dns/attacks/index.ts';
import type { Alerts, Condition, Details } from '../../platform/alerts/index.ts';

const ATTACK_KEYS = 'attack/';
/** Maximum number of zones named in an alert. */
const MAX_ZONES_NAMED = 10;

type AlertSink = Pick<Alerts, 'begin' | 'end' | 'openKeys'>;

export function reportAttack({ kind, attack }: AttackEvent, alerts: AlertSink): void {
  if (kind === 'started') alerts.begin(conditionOf(attack));
  if (kind === 'ended') alerts.end(keyOf(attack), { text: endOf(attack), details: detailsOf(attack) });
}

/**
 * After a restart, fires the alerts of active attacks and resolves those of ended attacks, because a killed process
 * may have sent neither.
 */
export function reconcileAttacks(open: readonly Attack[], alerts: AlertSink): void {
  for (const attack of open) alerts.begin(conditionOf(attack));
  const lasting = open.map(keyOf);
  for (const key of alerts.openKeys(ATTACK_KEYS))
    if (!lasting.includes(key))
      alerts.end(key, { text: 'The attack ended while the guard was not running.' });
}

const keyOf = ({ id }: Attack): string => `${ATTACK_KEYS}${id}`;

function conditionOf(attack: Attack): Condition {
  const { now, detected_by, rule } = attack;
  const inForce =
    rule === undefined
      ? 'No rule is in force: every query passes unless it is denied.'
      : `The rule in force is ${rule.id}, ${rule.mode}.`;
  const text =
    `Attack on ${zonesOf(attack)}, detected by ${detected_by.replaceAll('_', ' ')}: ${now.queries} queries per second, ` +
    `${now.unknown_names} of them for unknown names, ${limitedText(now)}. ${inForce} ` +
    `\`floodgate dns attacks ${attack.id}\` shows details.`;
  return { key: keyOf(attack), kind: 'attack', subject: zonesOf(attack), text, details: detailsOf(attack) };
}

function endOf(attack: Attack): string {
  const { known_names: known, queries, peak } = attack;
  const seconds = Math.round((Date.parse(attack.last_seen_on) - Date.parse(attack.started_on)) / 1000);
  return (
    `The attack on ${zonesOf(attack)} ended after ${seconds} s: ${queries} queries, at most ${peak.queries} per second, ` +
    `${limitedText(attack)}; ${known.answered} of ${known.asked} queries for known names were answered.`
  );
}

/** Formats counts as `23500 limited` (dropped or truncated), plus queries that monitoring let pass, if any. */
function limitedText({ limited, would_drop }: Pick<Attack, 'limited' | 'would_drop'>): string {
  if (would_drop === 0) return `${limited} limited`;
  return `${limited} limited, ${would_drop} that would be limited if the rule were enabled`;
}

function zonesOf({ zones, zone_count }: Attack): string {
  const named = zones
    .slice(0, MAX_ZONES_NAMED)
    .map((zone) => (zone === '' ? 'names outside every known zone' : zone));
  const others = zone_count > named.length ? ` and ${zone_count - named.length} more` : '';
  return named.join(', ') + others;
}

function detailsOf(attack: Attack): Details {
  const { id, zones, zone_count, detected_by, rule, started_on, last_seen_on, now, peak } = attack;
  const { queries, unknown_names, limited, would_drop, known_names } = attack;
  return {
    attack: id,
    zones: zones.slice(0, MAX_ZONES_NAMED),
    zone_count,
    detected_by,
    started_on,
    last_seen_on,
    ...(rule && { rule: rule.id, mode: rule.mode }),
    now,
    peak,
    queries,
    unknown_names,
    limited,
    would_drop,
    known_names,
  };
}
