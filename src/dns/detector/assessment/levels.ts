/** The combinations of profile sensitivity and rate sensitivity for which a zone is assessed. */
import {
  type ProfileSensitivity,
  profileSensitivities,
  type Sensitivity,
  sensitivities,
} from '../../../rules/index.ts';

const RATES = sensitivities.length;
export const LEVELS = profileSensitivities.length * RATES;

/** One value per combination. {@link levelOf} returns the index. */
export type PerLevel = number[];

export const perLevel = (value = 0): PerLevel => new Array<number>(LEVELS).fill(value);

export const levelOf = (profile: ProfileSensitivity, rate: Sensitivity): number =>
  profileSensitivities.indexOf(profile) * RATES + sensitivities.indexOf(rate);

/** Index of the profile sensitivity of a level; equals `profileLevel`. */
export const profileOf = (level: number): number => Math.floor(level / RATES);

export const rateOf = (level: number): Sensitivity => sensitivities[level % RATES] ?? 'medium';

export function addTo(sum: PerLevel, counts: PerLevel): void {
  // An index is faster than an iterator, and thousands of zones are added every second.
  for (let level = 0; level < LEVELS; level++) sum[level] = (sum[level] ?? 0) + (counts[level] ?? 0);
}
