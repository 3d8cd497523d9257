import type { GuardLocation } from '../../rules/index.ts';
import type { GuardMinute, MinuteRecord, MinutesQuery } from '../analytics/index.ts';
import type { Attack, AttackQuery, AttackRule } from '../attacks/index.ts';

/** Identity under which a guard writes to the shared database. */
export interface MemberIdentity {
  /** Id of the guard, stored in its data folder. */
  readonly id: string;
  /** Id of the process: a new one at each start of the guard. */
  readonly run: string;
  readonly account: string;
  readonly place: GuardLocation;
}

export interface InstanceReport {
  readonly version: string;
  readonly data_plane: string;
  readonly started_on: string;
  /** The rule in force. Absent if no rule is in force. */
  readonly rule?: AttackRule | undefined;
  /** Time at which the rule in force last changed, or of the start of the guard. */
  readonly rule_since: string;
}

export interface Instance extends InstanceReport, GuardLocation {
  readonly id: string;
  readonly last_seen_on: string;
  /** True if the last heartbeat of the guard is at most 30 seconds old. */
  readonly is_up: boolean;
}

/** The minute, and the start time of attacks, with which a guard continues its reports. Undefined: no report yet. */
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
 * The database that all guards share. Writes are idempotent: a minute record replaces the stored record of the same
 * guard, rule and minute, and an attack replaces the stored attack with the same id.
 */
export interface FleetStore {
  /** Reports that a guard is running. Returns `run` and start time from the previous heartbeat with the same id. */
  heartbeat(
    self: MemberIdentity,
    report: InstanceReport,
  ): Promise<{ readonly run: string; readonly startedOn: string } | undefined>;
  resumeFrom(self: MemberIdentity): Promise<ReportCursor>;
  putMinutes(self: MemberIdentity, records: readonly MinuteRecord[]): Promise<void>;
  putAttacks(self: MemberIdentity, attacks: readonly Attack[]): Promise<void>;
  /** Deletes expired records of all accounts, at most a fixed number of minutes and of attacks per call. */
  deleteExpired(nowMs: number): Promise<void>;
  /** Returns at most {@link MAX_INSTANCES} guards of an account, the guard with the newest heartbeat first. */
  instances(account: string): Promise<readonly Instance[]>;
  /** Yields minute records in order. Throws `InvalidAnalyticsQuery` if there are {@link MAX_MINUTES_READ} or more. */
  minutes(query: MinutesQuery): AsyncIterable<GuardMinute>;
  attacks(
    query: FleetAttackQuery,
  ): Promise<{ readonly result: readonly GuardAttack[]; readonly total: number }>;
  attack(account: string, id: string): Promise<GuardAttack | undefined>;
}

/** A guard is deleted from the shared database this number of days after its last heartbeat. */
export const INSTANCE_KEPT_DAYS = 7;
export const MAX_INSTANCES = 1000;
/** Maximum number of minute records per query: a week of about twenty guards. Reading them takes some seconds. */
export const MAX_MINUTES_READ = 200_000;
