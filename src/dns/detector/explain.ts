import { questionOf, typeNames } from '../protocol/index.ts';
import type { AttackDetector } from './attackDetector.ts';

/** Verdict that a query for a name would get, and its reason. */
export interface Explanation {
  readonly name: string;
  readonly type: string;
  /** Known zone that contains the name. Empty for a name outside every known zone. */
  readonly zone: string;
  readonly zone_attacked: boolean;
  readonly zone_judged_by_rate: boolean;
  /** Whether the zone is still being seeded. Meanwhile, none of its names counts as unknown. */
  readonly zone_awaits_names: boolean;
  readonly known: boolean;
  readonly known_types: readonly string[];
  /** Why the query needs a rate-limit token, or `none`. */
  readonly reason: string;
  readonly verdict:
    | 'passes'
    | 'passes if a token is available'
    | 'passes, and is counted if no token is available';
}

interface NameAndType {
  readonly name: string;
  readonly type: { readonly name: string; readonly number: number };
}

/** Returns a query's verdict without counting, learning or taking a token. Throws `BadNameError` for invalid names. */
export function explain(detector: AttackDetector, { name, type }: NameAndType, nowMs: number): Explanation {
  const question = questionOf(name, type.number, detector.key);
  const zone = detector.zones.find(question);
  const place = detector.profile.find(question.hashHigh, question.hashLow);
  const reason = detector.reasonToPay(question, zone, nowMs);
  const passesAll = reason === 'none' || (reason === 'zoneRate' && zone.awaitsRate);
  const drops = detector.rule?.mode === 'enabled' && detector.mayDrop(zone, reason, nowMs);
  const paying = drops ? 'passes if a token is available' : 'passes, and is counted if no token is available';
  return {
    name,
    type: type.name,
    zone: zone.name,
    zone_attacked: zone.isReported(nowMs),
    zone_judged_by_rate: zone.byRate,
    zone_awaits_names: zone.awaitsNames,
    known: place >= 0,
    known_types: place >= 0 ? typeNames(detector.profile.types(place)) : [],
    reason,
    verdict: passesAll ? 'passes' : paying,
  };
}
