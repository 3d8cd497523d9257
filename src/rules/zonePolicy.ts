/**
 * Policies of single zones: they override the rule in force for a zone and the names below it, down to the next zone
 * with a policy. An extension of Floodgate; Cloudflare's API has no such resource.
 */
import type { ProfileSensitivity, Sensitivity } from './rule.ts';

export const zoneModes = ['inherit', 'enabled', 'monitoring', 'disabled'] as const;
/** Mode of a zone. `inherit`: the mode of the rule in force. */
export type ZoneMode = (typeof zoneModes)[number];

export const zoneJudgements = ['auto', 'names', 'rate'] as const;
/** What limits a zone: unknown names, its query rate, or (`auto`) what the guard has learned. */
export type ZoneJudgement = (typeof zoneJudgements)[number];

/** Maximum number of policies of one account. As many zones are reserved for them in the guard's table of zones. */
export const MAX_ZONE_POLICIES = 1000;

/** Fields of a policy that a client sets. `null`: learned from traffic, or taken from the rule in force. */
export interface ZonePolicySettings {
  /** Zone name: lower case, A-labels, no final dot. `.` for the root, which covers all names without other policies. */
  readonly zone: string;
  readonly mode: ZoneMode;
  readonly judge_by: ZoneJudgement;
  /** Queries per second that the zone may receive (1 to 400,000). Sensitivities do not scale it. */
  readonly rate: number | null;
  /** Size of the token bucket in queries (1 to 2,000,000). `null`: five times `rate`. */
  readonly burst: number | null;
  /** Unknown names per second that are an attack. */
  readonly unknown_per_second: number | null;
  readonly profile_sensitivity: ProfileSensitivity | null;
  readonly rate_sensitivity: Sensitivity | null;
  readonly burst_sensitivity: Sensitivity | null;
  /** Whether queries are limited only while the servers behind the guard are overloaded. */
  readonly only_when_upstream_unhealthy: boolean;
  readonly comment: string;
}

export interface ZonePolicy extends ZonePolicySettings {
  readonly id: string;
  readonly created_on: string;
  readonly modified_on: string;
}
