import type { StoredClients } from './clients/knownClients.ts';
import type { RateSample } from './limits/thresholds.ts';
import type { ProfileEntry } from './profile/profile.ts';
import type { StoredHours } from './zones/unknownHours.ts';

/** What a guard has learned, except the names of the profile. */
export interface Learned {
  /** Key with which names and client networks are hashed. */
  readonly hashKey: { readonly high: number; readonly low: number };
  readonly savedMs: number;
  readonly rates: readonly RateSample[];
  /** Queries per second that the servers answered in time, in the busiest ten minutes. */
  readonly servedPerSecond?: number;
  readonly zones: readonly LearnedZone[];
  /** Client networks that query known names. */
  readonly clients?: StoredClients;
}

export interface LearnedZone {
  readonly name: string;
  /** Queries per second for unknown names, and for known names that the zone does not list, in busy ten minutes. */
  readonly busiestUnknownPerSecond?: number;
  readonly busiestLearnedPerSecond?: number;
  readonly unknownHours?: StoredHours;
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
   * Name of the zone whose data contains the wildcard or delegation because of which every name exists in this zone.
   * Empty if not every name exists.
   */
  readonly boundlessBy?: string;
  readonly unknownPeakPerSecond?: number;
  readonly unknownBusyPerSecond?: number;
  /** Number of times that the zone was seeded, modulo 8. */
  readonly generation?: number;
  readonly deniesByNoData?: boolean;
  readonly nxdomains?: number;
  readonly noDatas?: number;
  /** Number of new names that were answered with records. */
  readonly positives?: number;
  /** Number of days with answers from the zone, and calendar day (since 1970) of the zone's last answer. */
  readonly days?: readonly [count: number, lastDay: number];
}

export interface StoredProfile {
  readonly learned: Learned;
  readonly entries: Iterable<ProfileEntry>;
  /** Time of the last audit entry whose request to forget a zone is part of the state. */
  readonly forgottenUntil?: string;
}

/** Stores what a guard has learned, across restarts. */
export interface ProfileStore {
  /** Returns the stored state and names, or undefined if nothing was stored. */
  load(): StoredProfile | undefined;
  /** Replaces the stored state, the stored names and `forgottenUntil` in one atomic step. */
  save(learned: Learned, entries: Iterable<ProfileEntry>, forgottenUntil?: string): Promise<void>;
  /** Replaces the stored state, but keeps the stored names. Does nothing if no names are stored. */
  saveLearned(learned: Learned): Promise<void>;
}
