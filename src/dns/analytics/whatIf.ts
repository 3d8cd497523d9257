/** What other sensitivities would have done with the traffic of the last minute: decided about again from what was recorded. */
import type { ProfileSensitivity, Sensitivity } from '../../rules/index.ts';
import { type AttackDetector, DecideAgain, type DecidedAgain } from '../detector/index.ts';

const SPAN_MS = 60_000;
const MS_PER_SECOND = 1000;
const LEVELS = ['low', 'medium', 'high'] as const satisfies readonly Sensitivity[];
const PROFILE_LEVELS = [
  'low',
  'medium',
  'high',
  'very_high',
] as const satisfies readonly ProfileSensitivity[];
/** Without a rule, as if there were one with these. */
const USUAL = {
  profile_sensitivity: 'medium',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
} as const;

/** What a rule would have done, had it been enabled. */
interface Done {
  /** Queries that would have had to pay. */
  readonly paying: number;
  /** Of these, how many would have found no token, and of those, for names that the guard knows. */
  readonly refused: number;
  readonly known_refused: number;
  /** Queries that would not have had to pay, above the limit of one client: sent to TCP. */
  readonly client_limited: number;
}

export interface WhatIfs {
  readonly seconds: number;
  readonly queries: number;
  /** So many of them were recorded, and are what all of this was worked out from. */
  readonly recorded: number;
  /** Rate and burst sensitivity together, under the profile sensitivity of the rule. */
  readonly levels: readonly (Done & {
    readonly sensitivity: Sensitivity;
    readonly rate_per_second: number;
    readonly burst: number;
  })[];
  /** The profile sensitivity, under the others of the rule. */
  readonly profile_levels: readonly (Done & { readonly profile_sensitivity: ProfileSensitivity })[];
}

export interface WhatIfOptions {
  /** For how long the guard has watched. */
  readonly watchedSeconds: number;
  readonly nowMs: number;
  /** Waited for before each step, which takes some milliseconds: what else is to be done comes first. */
  readonly pause: () => Promise<void>;
}

export async function whatIf(
  detector: AttackDetector,
  { watchedSeconds, nowMs, pause }: WhatIfOptions,
): Promise<WhatIfs> {
  const recorded = detector.decisions(nowMs, Math.min(SPAN_MS, watchedSeconds * MS_PER_SECOND));
  const again = new DecideAgain(detector, recorded);
  const { profile_sensitivity, rate_sensitivity, burst_sensitivity } = detector.rule ?? USUAL;
  const levels: WhatIfs['levels'][number][] = [];
  for (const sensitivity of LEVELS) {
    await pause();
    const rates = { rate_sensitivity: sensitivity, burst_sensitivity: sensitivity };
    const { ratePerSecond, burst } = detector.bucketSize(rates);
    const done = doneOf(again.under({ ...rates, profile_sensitivity }));
    levels.push({ sensitivity, rate_per_second: ratePerSecond, burst, ...done });
  }
  const profileLevels: WhatIfs['profile_levels'][number][] = [];
  for (const profile of PROFILE_LEVELS) {
    await pause();
    const done = doneOf(again.under({ profile_sensitivity: profile, rate_sensitivity, burst_sensitivity }));
    profileLevels.push({ profile_sensitivity: profile, ...done });
  }
  return {
    seconds: Math.round((nowMs - recorded.sinceMs) / MS_PER_SECOND),
    queries: recorded.samples.reduce((total, { weight }) => total + weight, 0),
    recorded: recorded.samples.length,
    levels,
    profile_levels: profileLevels,
  };
}

const doneOf = ({ paying, refused, knownRefused, clientLimited }: DecidedAgain): Done => ({
  ...{ paying, refused, known_refused: knownRefused, client_limited: clientLimited },
});
