/** What the guard needs of the rest of the house, as narrow as it gets. */
import type { ProfileEntry } from './profile/profile.ts';
import type { ProfileSensitivity, Sensitivity } from './sensitivity.ts';
import type { RateSample } from './thresholds.ts';

/** What the guard reads of a rule; the rules room's `Rule` is one. */
export interface ProtectionRule {
  readonly id: string;
  readonly scope: 'global' | 'region' | 'datacenter';
  readonly name: string;
  readonly mode: 'enabled' | 'monitoring' | 'disabled';
  readonly profile_sensitivity: ProfileSensitivity;
  readonly rate_sensitivity: Sensitivity;
  readonly burst_sensitivity: Sensitivity;
  /** ISO 8601 with six fractional digits and a numeric offset. */
  readonly modified_on: string;
}

/** Where rules come from. `onChange` calls back after a change of the account's rules and returns how to stop it. */
export interface RuleSource {
  list(): Promise<readonly ProtectionRule[]> | readonly ProtectionRule[];
  onChange(listener: () => void): () => void;
}

/** All that a guard has learned. */
export interface Learned {
  /** The key the names are hashed under. */
  readonly hashKey: { readonly high: number; readonly low: number };
  readonly rates: readonly RateSample[];
  readonly zones: readonly LearnedZone[];
}

/** What is usual in a zone, by its name. */
export interface LearnedZone {
  readonly name: string;
  readonly unknownShare: number;
  readonly nxdomainShare: number;
  readonly unknownPerSecond: number;
  readonly ratePerSecond: number;
  readonly learnedSeconds: number;
  readonly positiveAnswers: number;
  readonly onceOnlyAnswers: number;
}

/** Keeps what a guard has learned over a restart. */
export interface ProfileStore {
  /** Undefined when nothing was ever stored. */
  load(): Promise<{ learned: Learned; entries: Iterable<ProfileEntry> } | undefined>;
  /** Replaces what is stored; all or nothing. */
  save(learned: Learned, entries: Iterable<ProfileEntry>): Promise<void>;
}
