/** What may be set by hand instead of learned, for the account and for a zone. */

export interface Thresholds {
  /** Unknown names a second in one zone that are an attack, whatever is usual there and however they are answered. */
  readonly unknownPerSecond: number;
  /** The same for all zones of the account together. */
  readonly accountUnknownPerSecond: number;
  /** The account's rate and burst; learned where left out. */
  readonly ratePerSecond?: number | undefined;
  readonly burst?: number | undefined;
  /** Of zones, by name without the last dot, in lower case. */
  readonly zones: Readonly<Record<string, ZoneThresholds>>;
}

export interface ZoneThresholds {
  /** In place of the account's, and of what is usual in the zone. */
  readonly unknownPerSecond?: number | undefined;
  /** For a zone that is judged by rate. */
  readonly ratePerSecond?: number | undefined;
  readonly burst?: number | undefined;
}

/**
 * A thousand names a second that nobody knows are more than a hundred thousand queries a second have of typos at their peak;
 * five zones at once are no accident.
 */
export const DEFAULT_THRESHOLDS: Thresholds = {
  unknownPerSecond: 1000,
  accountUnknownPerSecond: 5000,
  zones: {},
};
