import type { Place } from '../../rules/index.ts';
import type { MinuteRecord, MinutesQuery, PlacedMinute } from '../analytics/index.ts';
import type { Attack, AttackQuery, MetRule } from '../attacks/index.ts';

/** A guard, as it names itself to the others. */
export interface Self {
  /** The same for as long as there is its data folder. */
  readonly id: string;
  /** Another one after each start. */
  readonly run: string;
  readonly account: string;
  readonly place: Place;
}

/** What a guard tells of itself. */
export interface InstanceTold {
  readonly version: string;
  readonly data_plane: string;
  readonly started_on: string;
  /** The rule in force, left out where there is none; and since when that is so. */
  readonly rule?: MetRule | undefined;
  readonly rule_since: string;
}

/** A guard, as it is known to all. */
export interface Instance extends InstanceTold, Place {
  readonly id: string;
  readonly last_seen_on: string;
  /** It was seen within the last 30 seconds. */
  readonly is_up: boolean;
}

/** How far what a guard has told is known: from there on it tells again. Undefined where nothing is known. */
export interface ResumeFrom {
  readonly minute: number | undefined;
  readonly attacksFromMs: number | undefined;
}

/** An attack, and which guard saw it. */
export interface PlacedAttack {
  readonly attack: Attack;
  readonly place: Place;
  readonly instance: string;
}

export interface AttackPlaceQuery extends AttackQuery, Place {
  readonly account: string;
}

/** Keeps what guards tell. Everything may be told again: it is known by guard and minute, or by attack, and the last word counts. */
export interface FleetStore {
  /** Tells that a guard is there. Gives what another run said under its id just before, where there was one. */
  seen(
    self: Self,
    told: InstanceTold,
  ): Promise<{ readonly run: string; readonly startedOn: string } | undefined>;
  resumeFrom(self: Self): Promise<ResumeFrom>;
  putMinutes(self: Self, records: readonly MinuteRecord[]): Promise<void>;
  putAttacks(self: Self, attacks: readonly Attack[]): Promise<void>;
  /** Forgets what is too old, of all accounts: a bounded part of it. */
  forget(nowMs: number): Promise<void>;
  /** Those of an account that were seen last first, {@link MAX_INSTANCES} at most. */
  instances(account: string): Promise<readonly Instance[]>;
  /** By minute. Throws `InvalidAnalyticsQuery` where there are more than {@link MAX_MINUTES_READ}. */
  minutes(query: MinutesQuery): AsyncIterable<PlacedMinute>;
  attacks(
    query: AttackPlaceQuery,
  ): Promise<{ readonly result: readonly PlacedAttack[]; readonly total: number }>;
  attack(account: string, id: string): Promise<PlacedAttack | undefined>;
}

/** A guard that was not seen for longer is forgotten. */
export const INSTANCE_KEPT_DAYS = 7;
export const MAX_INSTANCES = 1000;
/** A week of twenty guards, and some seconds of work. */
export const MAX_MINUTES_READ = 200_000;
