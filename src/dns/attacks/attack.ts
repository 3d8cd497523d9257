import type { NoticedBy } from '../detector/index.ts';
import type { HeavyHitter } from './spaceSaving.ts';

/** The settings of a rule that an attack met. */
export interface MetRule {
  readonly id: string;
  readonly mode: string;
  readonly profile_sensitivity: string;
  readonly rate_sensitivity: string;
  readonly burst_sensitivity: string;
}

/** What changed while an attack lasted; `peak`: it became twice as large as when it was told of last. */
export interface AttackChange {
  readonly at: string;
  readonly kind: 'rule' | 'peak' | 'zone' | 'restart';
  /** The rule in force from then on; left out where there is none. */
  readonly rule?: MetRule | undefined;
  readonly zone?: string;
  readonly queries_per_second?: number;
}

/** Queries a second in the attacked zones. */
export interface AttackRates {
  readonly queries: number;
  readonly unknown_names: number;
  /** Refused, or that would have been were the rule enabled. */
  readonly refused: number;
}

export interface SampledName {
  /** As the guard writes names: whatever is not a letter, digit, `_`, `*`, `/` or `-` as `\\ddd`. */
  readonly name: string;
  readonly type: string;
  readonly network: string;
}

/** An attack without its lists. */
export interface AttackSummary {
  readonly id: string;
  /** Which guard saw it, and where that stands; left out where there is only one. */
  readonly instance?: string | undefined;
  readonly region?: string | undefined;
  readonly datacenter?: string | undefined;
  readonly state: 'active' | 'ended';
  /** The attacked zones, at most {@link MAX_ZONES_NAMED}; an empty name is what lies outside every known zone. */
  readonly zones: readonly string[];
  readonly zone_count: number;
  readonly noticed_by: NoticedBy;
  /** The rule in force; left out where there is none. */
  readonly rule?: MetRule | undefined;
  readonly started_on: string;
  /** When it was an attack the last time. */
  readonly last_seen_on: string;
  /** Left out while it lasts. */
  readonly ended_on?: string | undefined;
  /** In the last second that was looked at, and the highest of each. */
  readonly now: AttackRates;
  readonly peak: AttackRates;
  /** Queries in the attacked zones while they were attacked. */
  readonly queries: number;
  readonly unknown_names: number;
  readonly refused: number;
  readonly would_refuse: number;
  /** `refused` of `queries`. */
  readonly refused_share: number;
  /** Of queries for names that the guard knows: those of users. */
  readonly known_names: { readonly asked: number; readonly answered: number; readonly refused: number };
}

/** An attack as it is stored and told. */
export interface Attack extends AttackSummary {
  /** Answers of the servers to what passed, by response code; `NODATA` beside `NOERROR`. */
  readonly response_codes: Readonly<Record<string, number>>;
  readonly top: {
    /** Queries that the tops were made of, and how many they stand for. */
    readonly sampled: number;
    readonly weight: number;
    readonly names: readonly HeavyHitter[];
    readonly types: readonly HeavyHitter[];
    readonly networks: readonly HeavyHitter[];
  };
  readonly sampled_names: readonly SampledName[];
  readonly changes: readonly AttackChange[];
}

export const MAX_ZONES_NAMED = 100;

/** Heavy hitters of each list that are told. */
const TOLD = 20;

/** An attack as it is told: the counters behind the first ones only serve to count on. */
export function toldAttack(attack: Attack): Attack {
  const { names, types, networks, ...counts } = attack.top;
  const first = (list: readonly HeavyHitter[]) => list.slice(0, TOLD);
  return {
    ...attack,
    top: { ...counts, names: first(names), types: first(types), networks: first(networks) },
  };
}

export function summaryOf(attack: Attack): AttackSummary {
  const { response_codes: _codes, top: _top, sampled_names: _names, changes: _changes, ...summary } = attack;
  return summary;
}

/** What is told of a rule. */
export function ruleMet(rule: MetRule | undefined): MetRule | undefined {
  if (rule === undefined) return undefined;
  const { id, mode, profile_sensitivity, rate_sensitivity, burst_sensitivity } = rule;
  return { id, mode, profile_sensitivity, rate_sensitivity, burst_sensitivity };
}
