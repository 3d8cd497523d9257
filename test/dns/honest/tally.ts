import type { Outcomes } from './bulk.ts';

/**
 * Periods of a world:
 * - `monitoring`: the first hour.
 * - `quiet`: no attack.
 * - `elsewhere`: an attack on another zone.
 * - `here`: an attack on this zone.
 */
const periods = ['monitoring', 'quiet', 'elsewhere', 'here'] as const;
export type Period = (typeof periods)[number];

/** Honest queries of one zone in one period. */
export class Counts {
  asked = 0;
  forwarded = 0;
  /** Queries that got no answer, neither over UDP nor, after TC=1, over TCP. */
  limited = 0;
  /** Queries that were dropped. */
  silent = 0;
  recurringAsked = 0;
  recurringLimited = 0;

  add({ forwarded, truncated, dropped }: Outcomes, { isRecurring, isTcpRefused }: Note): void {
    const limited = dropped + (isTcpRefused ? truncated : 0);
    this.asked += forwarded + truncated + dropped;
    this.forwarded += forwarded;
    this.silent += dropped;
    this.limited += limited;
    if (!isRecurring) return;
    this.recurringAsked += forwarded + truncated + dropped;
    this.recurringLimited += limited;
  }

  get limitedShare(): number {
    return this.asked === 0 ? 0 : this.limited / this.asked;
  }

  get recurringLimitedShare(): number {
    return this.recurringAsked === 0 ? 0 : this.recurringLimited / this.recurringAsked;
  }
}

interface Note {
  /** Whether the name was answered in two different hours of the last 24. */
  readonly isRecurring: boolean;
  /** Whether TCP refuses the query after TC=1. */
  readonly isTcpRefused: boolean;
}

export class Tally {
  readonly #counts = new Map<string, Record<Period, Counts>>();

  of(zone: string, period: Period): Counts {
    const counts = this.#counts.get(zone) ?? {
      monitoring: new Counts(),
      quiet: new Counts(),
      elsewhere: new Counts(),
      here: new Counts(),
    };
    this.#counts.set(zone, counts);
    return counts[period];
  }

  /** Sums the queries of a zone over all periods. */
  total(zone: string): { asked: number; limited: number } {
    const all = periods.map((period) => this.of(zone, period));
    return {
      asked: all.reduce((sum, { asked }) => sum + asked, 0),
      limited: all.reduce((sum, { limited }) => sum + limited, 0),
    };
  }
}
