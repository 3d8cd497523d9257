/** Numbers for the sensitivities of a rule. Cloudflare does not publish its numbers, so these are Floodgate's own. */

import type { ProfileSensitivity, Sensitivity } from '../../rules/index.ts';

/** Factor by which each sensitivity scales rate or burst. A lower sensitivity means a larger token bucket. */
export const MULTIPLIERS: Readonly<Record<Sensitivity, number>> = { low: 2, medium: 1, high: 0.5 };

/** Profile sensitivities, ascending. A query that needs a token at one level also needs one at every higher level. */
export const profileLevel: Readonly<Record<ProfileSensitivity, number>> = {
  low: 0,
  medium: 1,
  high: 2,
  very_high: 3,
};
