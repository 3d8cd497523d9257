/** What the words of a rule mean in numbers. The original keeps its numbers secret; these are ours, and may be configured. */

import type { ProfileSensitivity, Sensitivity } from '../../rules/index.ts';

/** The factor on the threshold for each level: the lower the sensitivity, the larger the bucket. */
export type Multipliers = Readonly<Record<Sensitivity, number>>;

/** `medium` is the threshold itself; `low` tolerates twice as much, `high` half. */
export const DEFAULT_MULTIPLIERS: Multipliers = { low: 2, medium: 1, high: 0.5 };

/** The levels as numbers that grow with what pays: each level includes the ones below. */
export const profileLevel: Readonly<Record<ProfileSensitivity, number>> = {
  low: 0,
  medium: 1,
  high: 2,
  very_high: 3,
};
