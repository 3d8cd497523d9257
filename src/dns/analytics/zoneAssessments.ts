/** Assessments of zones in the form of the rules API. docs/reference/zone-assessments.md explains the members. */
import {
  type ProfileSensitivity,
  profileSensitivities,
  type Sensitivity,
  sensitivities,
} from '../../rules/index.ts';
import { type AttackDetector, levelOf, type ZoneAssessment } from '../detector/index.ts';
import type { LimitedExamples } from './limitedExamples.ts';

const SHARE_DIGITS = 6;

/** Queries in a span of time, and the shares of them that would be limited, by profile and rate sensitivity. */
export interface ReportedSpan {
  readonly queries: number;
  readonly limited_share: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface ReportedAssessment {
  /** `.` for all names outside of every known zone. */
  readonly zone: string;
  readonly assessment: ZoneAssessment['assessment'];
  readonly judged_by: 'names' | 'rate';
  /** Number of known names in the zone. */
  readonly known_names: number;
  /** Sensitivities in force, for which the zone is assessed. Without a rule: `medium`. */
  readonly profile_sensitivity: ProfileSensitivity;
  readonly rate_sensitivity: Sensitivity;
  /** Id of the policy that covers the zone. */
  readonly policy?: string;
  /** Settings for a policy of the zone. */
  readonly proposed?: { readonly judge_by: 'rate'; readonly rate: number; readonly burst: number };
  readonly hour: ReportedSpan;
  readonly day: ReportedSpan;
  readonly week: ReportedSpan;
  readonly names: readonly string[];
  readonly networks: readonly string[];
}

/** Returns the assessments of zones, those with the most queries first. */
export const zoneAssessments = (
  detector: AttackDetector,
  examples: LimitedExamples,
  nowMs: number,
): ReportedAssessment[] =>
  detector.assessments(nowMs).map(({ zone, assessment, proposed, hour, day, week, ...inForce }) => ({
    zone: zone.name === '' ? '.' : zone.name,
    assessment,
    judged_by: zone.byRate ? 'rate' : 'names',
    known_names: detector.profile.sizeOf(zone.number),
    profile_sensitivity: inForce.profileSensitivity,
    rate_sensitivity: inForce.rateSensitivity,
    ...(zone.policy !== undefined && { policy: zone.policy.id }),
    ...(proposed !== undefined && { proposed: { judge_by: 'rate', ...proposed } }),
    hour: spanOf(hour),
    day: spanOf(day),
    week: spanOf(week),
    ...examples.of(zone),
  }));

function spanOf({ queries, limited }: ZoneAssessment['day']): ReportedSpan {
  const shareAt = (level: number): number =>
    queries === 0 ? 0 : Number(Math.min(1, (limited[level] ?? 0) / queries).toFixed(SHARE_DIGITS));
  const byRate = (profile: (typeof profileSensitivities)[number]) =>
    Object.fromEntries(sensitivities.map((rate) => [rate, shareAt(levelOf(profile, rate))]));
  return {
    queries,
    limited_share: Object.fromEntries(profileSensitivities.map((profile) => [profile, byRate(profile)])),
  };
}
