import type { DetectedBy } from '../detector/index.ts';
import type { HeavyHitter } from './spaceSaving.ts';

/** Settings of the rule in force during an attack. */
export interface AttackRule {
  readonly id: string;
  readonly mode: string;
  readonly profile_sensitivity: string;
  readonly rate_sensitivity: string;
  readonly burst_sensitivity: string;
}

/**
 * A change during an attack:
 * - `rule`: another rule came into force.
 * - `peak`: the query rate is at least twice the last reported peak.
 * - `zone`: one more zone is attacked.
 * - `restart`: the guard restarted.
 */
export interface AttackChange {
  readonly at: string;
  readonly kind: 'rule' | 'peak' | 'zone' | 'restart';
  /** The new rule in force. Absent if no rule is in force. */
  readonly rule?: AttackRule | undefined;
  readonly zone?: string;
  readonly queries_per_second?: number;
}

export interface AttackRates {
  readonly queries: number;
  readonly unknown_names: number;
  /** Queries per second that were dropped or truncated. */
  readonly limited: number;
  /** Queries per second that exceeded a limit, but passed because the rule only monitors or may not drop yet. */
  readonly would_drop: number;
}

export interface SampledName {
  /** Queried name as text. Bytes other than letters, digits, `_`, `*`, `/` and `-` are escaped as `\\ddd`. */
  readonly name: string;
  readonly type: string;
  readonly network: string;
}

/** An attack without its lists of names, types, networks, response codes and changes. */
export interface AttackSummary {
  readonly id: string;
  /** Id of the guard that detected the attack, and location of this guard. Absent if there is only one guard. */
  readonly instance?: string | undefined;
  readonly region?: string | undefined;
  readonly datacenter?: string | undefined;
  readonly state: 'active' | 'ended';
  /** Names of attacked zones, at most {@link MAX_ZONES_NAMED}. Empty for names outside every known zone. */
  readonly zones: readonly string[];
  readonly zone_count: number;
  readonly detected_by: DetectedBy;
  readonly rule?: AttackRule | undefined;
  readonly started_on: string;
  /** Last time at which an attack on one of the zones was reported. */
  readonly last_seen_on: string;
  /** Time at which the attack ended. Absent while the attack is active. */
  readonly ended_on?: string | undefined;
  /** Rates in the last second. All are 0 after the attack has ended. */
  readonly now: AttackRates;
  /** Highest value of each rate during the attack. */
  readonly peak: AttackRates;
  /** Number of queries in the attacked zones during the attack. */
  readonly queries: number;
  readonly unknown_names: number;
  readonly limited: number;
  readonly would_drop: number;
  /** `limited` divided by `queries`. */
  readonly limited_share: number;
  /** Number of user queries (for known names), by outcome. */
  readonly known_names: {
    readonly asked: number;
    readonly answered: number;
    readonly limited: number;
    readonly would_drop: number;
  };
}

/** An attack in the form in which it is stored and reported. */
export interface Attack extends AttackSummary {
  /** Number of answers that the servers sent, by response code. `NODATA` is counted separately from `NOERROR`. */
  readonly response_codes: Readonly<Record<string, number>>;
  readonly top: {
    /** Number of sampled queries from which the lists were made. */
    readonly sampled: number;
    /** Number of limited queries that the sampled queries represent. */
    readonly weight: number;
    readonly names: readonly HeavyHitter[];
    readonly types: readonly HeavyHitter[];
    readonly networks: readonly HeavyHitter[];
  };
  readonly sampled_names: readonly SampledName[];
  readonly changes: readonly AttackChange[];
}

export const MAX_ZONES_NAMED = 100;

/** Maximum number of values in each list of a reported attack. */
const MAX_REPORTED = 20;

/**
 * Returns an attack with lists of at most MAX_REPORTED values. Stored lists are longer, so that counting can continue
 * after a restart.
 */
export function reportedAttack(attack: Attack): Attack {
  const { names, types, networks, ...counts } = attack.top;
  const first = (list: readonly HeavyHitter[]) => list.slice(0, MAX_REPORTED);
  return {
    ...attack,
    top: { ...counts, names: first(names), types: first(types), networks: first(networks) },
  };
}

export function summaryOf(attack: Attack): AttackSummary {
  const { response_codes: _codes, top: _top, sampled_names: _names, changes: _changes, ...summary } = attack;
  return summary;
}

/** Returns the properties of a rule that are reported with an attack. */
export function attackRuleOf(rule: AttackRule | undefined): AttackRule | undefined {
  if (rule === undefined) return undefined;
  const { id, mode, profile_sensitivity, rate_sensitivity, burst_sensitivity } = rule;
  return { id, mode, profile_sensitivity, rate_sensitivity, burst_sensitivity };
}
