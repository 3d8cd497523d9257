/** Sensitivities of a rule as numbers. Cloudflare does not publish its own; these are Floodgate's. */

import type { ProfileSensitivity, Sensitivity } from '../../rules/index.ts';

/** Factor of the threshold at each sensitivity. A lower sensitivity means a larger token bucket. */
export const MULTIPLIERS: Readonly<Record<Sensitivity, number>> = { low: 2, medium: 1, high: 0.5 };

/** Profile sensitivities, ascending. A query that needs a token at one level also needs one at every higher level. */
export const profileLevel: Readonly<Record<ProfileSensitivity, number>> = {
  low: 0,
  medium: 1,
  high: 2,
  very_high: 3,
};
