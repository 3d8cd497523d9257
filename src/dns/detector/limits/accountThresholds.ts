/** Thresholds of the account from the configuration. They override learned thresholds. */

export interface Thresholds {
  /** Number of unknown names per second in one zone that is an attack, regardless of baseline and answers. */
  readonly unknownPerSecond: number;
  /** Number of unknown names per second over all zones of the account that is an attack. */
  readonly accountUnknownPerSecond: number;
  /** Rate (queries per second) and burst of the account's token bucket. By default, they are learned from traffic. */
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
};
