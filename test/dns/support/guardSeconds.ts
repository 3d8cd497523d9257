import { vi } from 'vitest';
import type { Guard } from '../../../src/dns/controller/index.ts';
import { ResponseTimes } from '../../../src/dns/dataplane/index.ts';
import { outcomeOf, type Verdict } from '../../../src/dns/detector/index.ts';
import { atEnd } from './atEnd.ts';

/** What a guard counted in one of its seconds, and what it decided at the end of that second. */
export interface GuardSecond {
  readonly nowMs: number;
  /** Whether servers are unhealthy after this second: docs/reference/dns-protection.md. For the first minute only. */
  readonly isOverloaded: boolean;
  /** Whether all queries for known names and all probes were answered quickly. */
  readonly isCalm: boolean;
  /** Dropped or truncated queries. Those of dnsdist are counted up to a second later. */
  readonly limited: number;
  /** Whether an attack on the zone is reported. */
  readonly isReported: boolean;
  /** Whether unknown names without a token are dropped in the next second. */
  readonly limits: boolean;
}

/** Bounds of the limit of the 90th percentile of the response time. */
const SLOW_MS = 250;
const QUICK_MS = 50;
const MIN_QUERIES = 20;

/** Records the seconds of a guard until the end of the test. */
export function recordSeconds(guard: Guard, zoneName: string): readonly GuardSecond[] {
  const { detector, dataPlane } = guard;
  const zone = detector.zones.get(zoneName);
  if (zone === undefined) throw new Error(`the guard does not know the zone ${zoneName}`);
  const seconds: GuardSecond[] = [];
  let times = { isOverloaded: false, isCalm: true };
  let limitedBefore = limitedBy(guard);
  const { takeTo } = ResponseTimes.prototype;
  const taken = vi.spyOn(ResponseTimes.prototype, 'takeTo').mockImplementation(function (
    this: ResponseTimes,
    counts,
  ) {
    takeTo.call(this, counts);
    const { answered, unanswered, queries, failedProbes, lagMs } = counts;
    // If a thread of the guard was blocked, it read answers late by up to that time.
    const above = (ms: number) =>
      counts.times.subarray(ms + lagMs + 1).reduce((sum, count) => sum + count, 0);
    times = {
      isOverloaded:
        failedProbes > 0 ||
        (queries >= MIN_QUERIES && (unanswered > 0.02 * queries || above(SLOW_MS) > 0.1 * answered)),
      isCalm: unanswered === 0 && failedProbes === 0 && above(QUICK_MS) === 0,
    };
  });
  const tick = dataPlane.tick.bind(dataPlane);
  const ticked = vi.spyOn(dataPlane, 'tick').mockImplementation((nowMs) => {
    tick(nowMs);
    const limitedNow = limitedBy(guard);
    seconds.push({
      nowMs,
      ...times,
      limited: limitedNow - limitedBefore,
      isReported: zone.isReported(nowMs),
      limits: detector.mayDrop(zone, 'unknownName', nowMs),
    });
    limitedBefore = limitedNow;
  });
  atEnd(() => {
    for (const spy of [taken, ticked]) spy.mockRestore();
  });
  return seconds;
}

/** Returns the number of queries that a guard has dropped or truncated. */
function limitedBy({ detector, dataPlane }: Guard): number {
  return (dataPlane.verdicts?.() ?? detector.verdicts).reduce((sum, queries, verdict) => {
    const outcome = outcomeOf(verdict as Verdict); // an index of the table of verdicts
    return outcome === 'dropped' || outcome === 'truncated' ? sum + queries : sum;
  }, 0);
}
