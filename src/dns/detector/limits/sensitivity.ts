/** Numbers for the sensitivities of a rule. Cloudflare does not publish its numbers, so these are Floodgate's own. */

import type { ProfileSensitivity, Sensitivity } from '../../../rules/index.ts';

/** Factor by which each sensitivity scales rate or burst. A lower sensitivity means a larger token bucket. */
export const MULTIPLIERS: Readonly<Record<Sensitivity, number>> = { low: 2, medium: 1, high: 0.5 };

/** Profile sensitivities, ascending. A query that needs a token at one level also needs one at every higher level. */
export const profileLevel: Readonly<Record<ProfileSensitivity, number>> = {
  low: 0,
  medium: 1,
  high: 2,
  very_high: 3,
};

/**
 * Factor by which each rate sensitivity scales a learned rate where no attack is detected. Genuine traffic of a busy
 * hour is up to four times that of a quiet hour, in which the rate may have been learned.
 */
export const HEADROOM: Readonly<Record<Sensitivity, number>> = { low: 4, medium: 3, high: 2 };
