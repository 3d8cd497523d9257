import type { StoredClients } from './clients/knownClients.ts';
import type { ProfileEntry } from './profile/profile.ts';
import type { RateSample } from './thresholds.ts';

/** Learned state of a guard, without the names of the profile. */
export interface Learned {
  /** Key with which names are hashed. */
  readonly hashKey: { readonly high: number; readonly low: number };
  readonly savedMs: number;
  readonly rates: readonly RateSample[];
  readonly zones: readonly LearnedZone[];
  /** Client networks that query known names. */
  readonly clients?: StoredClients;
}

export interface LearnedZone {
  readonly name: string;
  readonly unknownShare: number;
  readonly nxdomainShare: number;
  readonly unknownPerSecond: number;
  readonly ratePerSecond: number;
  readonly learnedSeconds: number;
  readonly positiveAnswers: number;
  readonly onceOnlyAnswers: number;
  /** Whether all names of the zone were in the profile. */
  readonly seeded?: boolean;
  readonly attacked?: boolean;
  /**
   * Zone whose data shows that every name exists in this zone (by a wildcard or a delegation). Empty if not every
   * name exists.
   */
  readonly boundlessBy?: string;
  readonly unknownPeakPerSecond?: number;
  readonly unknownBusyPerSecond?: number;
  /** Number of times that the zone was seeded, modulo 8. */
  readonly generation?: number;
  readonly deniesByNoData?: boolean;
  readonly nxdomains?: number;
  readonly noDatas?: number;
  /** Number of days with answers from the zone, and calendar day of the last answer. */
  readonly days?: readonly [count: number, lastDay: number];
}

/** Stores the learned state of a guard across restarts. */
export interface ProfileStore {
  /** Returns undefined if nothing was stored. */
  load(): { learned: Learned; entries: Iterable<ProfileEntry> } | undefined;
  /** Replaces the stored state atomically. */
  save(learned: Learned, entries: Iterable<ProfileEntry>): Promise<void>;
  /** Replaces all state except the names. Does nothing if no names are stored. */
  saveLearned(learned: Learned): Promise<void>;
}
