import type { StoredClients } from './clients/knownClients.ts';
import type { ProfileEntry } from './profile/profile.ts';
import type { RateSample } from './thresholds.ts';

/** All that a guard has learned. */
export interface Learned {
  /** The key the names are hashed under. */
  readonly hashKey: { readonly high: number; readonly low: number };
  /** When it was saved; left out by what was saved before this was kept. */
  readonly savedMs?: number;
  /** How names are noted; left out by what was saved before notes had the zone of a name and its days. */
  readonly form?: 2;
  readonly rates: readonly RateSample[];
  readonly zones: readonly LearnedZone[];
  /** Networks of clients that were here; left out by what was saved before this was kept. */
  readonly clients?: StoredClients;
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
  /** Whether all its names were in the profile; left out by what was saved before this was kept. */
  readonly seeded?: boolean;
  /** Whether it was under attack when this was saved. */
  readonly attacked?: boolean;
  /** The zone whose seed says that any name answers here; empty for none. */
  readonly boundlessBy?: string;
  // What follows is left out by what was saved before it was kept.
  readonly unknownPeakPerSecond?: number;
  /** The number of its last seed, modulo 8. */
  readonly generation?: number;
  readonly deniesByNoData?: boolean;
  readonly nxdomains?: number;
  readonly noDatas?: number;
  /** On how many days it was answered, and on which calendar day the last time. */
  readonly days?: readonly [count: number, lastDay: number];
}

/** Keeps what a guard has learned over a restart. */
export interface ProfileStore {
  /** Undefined when nothing was ever stored. */
  load(): { learned: Learned; entries: Iterable<ProfileEntry> } | undefined;
  /** Replaces what is stored; all or nothing. */
  save(learned: Learned, entries: Iterable<ProfileEntry>): Promise<void>;
  /** Replaces all but the names, where names are stored. */
  saveLearned(learned: Learned): Promise<void>;
}
