import type { GuardLocation } from '../../rules/index.ts';
import type { GuardMinute, MinuteRecord, MinutesQuery } from '../analytics/index.ts';
import type { Attack, AttackQuery, AttackRule } from '../attacks/index.ts';

/** Identity under which a guard reports to the fleet. */
export interface MemberIdentity {
  /** Stable for the lifetime of the data folder. */
  readonly id: string;
  /** Different after each start. */
  readonly run: string;
  readonly account: string;
  readonly place: GuardLocation;
}

export interface InstanceReport {
  readonly version: string;
  readonly data_plane: string;
  readonly started_on: string;
  /** Rule in force, absent if there is none. `rule_since` is the time of the last change. */
  readonly rule?: AttackRule | undefined;
  readonly rule_since: string;
}

export interface Instance extends InstanceReport, GuardLocation {
  readonly id: string;
  readonly last_seen_on: string;
  /** Whether the guard was seen within the last 30 seconds. */
  readonly is_up: boolean;
}

/** Minute, and start time of attacks, from which to report again. Undefined: nothing was reported yet. */
export interface ReportCursor {
  readonly minute: number | undefined;
  readonly attacksFromMs: number | undefined;
}

export interface GuardAttack {
  readonly attack: Attack;
  readonly place: GuardLocation;
  readonly instance: string;
}

export interface FleetAttackQuery extends AttackQuery, GuardLocation {
  readonly account: string;
}

/**
 * Shared database of all guards. Writes are idempotent: a record replaces the stored one with the same guard, rule
 * and minute, or with the same attack id.
 */
export interface FleetStore {
  /** Reports that a guard is running. Returns run and start time of the previous heartbeat with this id. */
  heartbeat(
    self: MemberIdentity,
    report: InstanceReport,
  ): Promise<{ readonly run: string; readonly startedOn: string } | undefined>;
  resumeFrom(self: MemberIdentity): Promise<ReportCursor>;
  putMinutes(self: MemberIdentity, records: readonly MinuteRecord[]): Promise<void>;
  putAttacks(self: MemberIdentity, attacks: readonly Attack[]): Promise<void>;
  /** Deletes a bounded number of expired records of all accounts. */
  deleteExpired(nowMs: number): Promise<void>;
  /** Returns the guards of an account, last seen first, at most {@link MAX_INSTANCES}. */
  instances(account: string): Promise<readonly Instance[]>;
  /** Returns minutes in order. Throws `InvalidAnalyticsQuery` if there are more than {@link MAX_MINUTES_READ}. */
  minutes(query: MinutesQuery): AsyncIterable<GuardMinute>;
  attacks(
    query: FleetAttackQuery,
  ): Promise<{ readonly result: readonly GuardAttack[]; readonly total: number }>;
  attack(account: string, id: string): Promise<GuardAttack | undefined>;
}

/** Number of days for which a guard is kept after it was last seen. */
export const INSTANCE_KEPT_DAYS = 7;
export const MAX_INSTANCES = 1000;
/** Maximum minutes per query: one week of about twenty guards. Reading them takes some seconds. */
export const MAX_MINUTES_READ = 200_000;
