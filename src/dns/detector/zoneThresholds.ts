/** Thresholds set by the operator, per account and per zone. They override learned thresholds. */

export interface Thresholds {
  /** Unknown names per second in one zone that are an attack, regardless of baseline and answers. */
  readonly unknownPerSecond: number;
  /** Unknown names per second over all zones of the account that are an attack. */
  readonly accountUnknownPerSecond: number;
  /** Rate (queries per second) and burst of the account's token bucket. Default: learned from traffic. */
  readonly ratePerSecond?: number | undefined;
  readonly burst?: number | undefined;
  /** Thresholds by zone name, in lower case without the trailing dot. */
  readonly zones: Readonly<Record<string, ZoneThresholds>>;
}

export interface ZoneThresholds {
  /** Unknown names per second that are an attack on this zone. Replaces the account's value and the baseline. */
  readonly unknownPerSecond?: number | undefined;
  /** Rate (queries/s) and burst of the zone's token bucket, used while the zone is judged by query rate, not names. */
  readonly ratePerSecond?: number | undefined;
  readonly burst?: number | undefined;
}

/**
 * Typos in 100,000 queries/s cause fewer than 1,000 unknown names per second. Five zones above that rate at the same
 * time are not a coincidence.
 */
export const DEFAULT_THRESHOLDS: Thresholds = {
  unknownPerSecond: 1000,
  accountUnknownPerSecond: 5000,
  zones: {},
};
