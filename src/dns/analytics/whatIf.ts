/** Calculates how other sensitivities would affect the traffic of the last minute, by replaying recorded samples. */
import type { ProfileSensitivity, Sensitivity } from '../../rules/index.ts';
import { type AttackDetector, PolicyReplay, type ReplayResult } from '../detector/index.ts';

const SPAN_MS = 60_000;
const MS_PER_SECOND = 1000;
const LEVELS = ['low', 'medium', 'high'] as const satisfies readonly Sensitivity[];
const PROFILE_LEVELS = [
  'low',
  'medium',
  'high',
  'very_high',
] as const satisfies readonly ProfileSensitivity[];

/** Numbers of queries that a rule would have affected. */
interface RuleEffect {
  /** Queries that needed a rate-limit token. */
  readonly paying: number;
  /** Queries that needed a rate-limit token but got none. */
  readonly limited: number;
  /** Queries for known names among `limited`. */
  readonly known_limited: number;
  /** Queries that needed no rate-limit token but exceeded the limit of one client or of all new clients. */
  readonly client_limited: number;
}

export interface WhatIfResult {
  readonly seconds: number;
  readonly queries: number;
  /** Number of recorded samples, from which all other numbers of queries are extrapolated. */
  readonly recorded: number;
  /** Effect of each profile sensitivity with each sensitivity for both rate and burst. */
  readonly levels: readonly (RuleEffect & {
    readonly profile_sensitivity: ProfileSensitivity;
    readonly sensitivity: Sensitivity;
    readonly rate_per_second: number;
    readonly burst: number;
  })[];
}

export interface WhatIfOptions {
  readonly watchedSeconds: number;
  readonly nowMs: number;
  /** Called and awaited before each calculation of some milliseconds, so that other work can run in between. */
  readonly pause: () => Promise<void>;
}

export async function whatIf(
  detector: AttackDetector,
  { watchedSeconds, nowMs, pause }: WhatIfOptions,
): Promise<WhatIfResult> {
  const recorded = detector.decisions(nowMs, Math.min(SPAN_MS, watchedSeconds * MS_PER_SECOND));
  const again = new PolicyReplay(detector, recorded);
  const levels: WhatIfResult['levels'][number][] = [];
  for (const profile_sensitivity of PROFILE_LEVELS)
    for (const sensitivity of LEVELS) {
      await pause();
      const rates = { rate_sensitivity: sensitivity, burst_sensitivity: sensitivity };
      const { ratePerSecond, burst } = detector.bucketSize(rates);
      const done = doneOf(again.replay({ ...rates, profile_sensitivity }));
      levels.push({ profile_sensitivity, sensitivity, rate_per_second: ratePerSecond, burst, ...done });
    }
  return {
    seconds: Math.round((nowMs - recorded.sinceMs) / MS_PER_SECOND),
    queries: recorded.samples.reduce((total, { weight }) => total + weight, 0),
    recorded: recorded.samples.length,
    levels,
  };
}

const doneOf = ({ paying, limited, knownLimited, clientLimited }: ReplayResult): RuleEffect => ({
  paying,
  limited,
  known_limited: knownLimited,
  client_limited: clientLimited,
});
