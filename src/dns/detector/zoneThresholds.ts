/** Thresholds from the configuration, for the account and for single zones. They override learned thresholds. */

export interface Thresholds {
  /** Number of unknown names per second in one zone that is an attack, regardless of baseline and answers. */
  readonly unknownPerSecond: number;
  /** Number of unknown names per second over all zones of the account that is an attack. */
  readonly accountUnknownPerSecond: number;
  /** Rate (queries per second) and burst of the account's token bucket. By default, they are learned from traffic. */
  readonly ratePerSecond?: number | undefined;
  readonly burst?: number | undefined;
  /** Thresholds by zone name, in lower case without the trailing dot. */
  readonly zones: Readonly<Record<string, ZoneThresholds>>;
}

export interface ZoneThresholds {
  /**
   * Number of unknown names per second that is an attack on this zone. Replaces the account's threshold, and the
   * threshold that follows from the zone's baseline.
   */
  readonly unknownPerSecond?: number | undefined;
  /** Rate (queries/s) and burst of the token bucket that limits the zone while it is judged by query rate. */
  readonly ratePerSecond?: number | undefined;
  readonly burst?: number | undefined;
}

/**
 * 100,000 queries per second contain fewer than 1,000 unknown names per second because of typos. If five zones reach
 * 1,000 at the same time, the cause is an attack.
 */
export const DEFAULT_THRESHOLDS: Thresholds = {
  unknownPerSecond: 1000,
  accountUnknownPerSecond: 5000,
  zones: {},
};
