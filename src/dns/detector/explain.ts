import { questionOf, typeNames } from '../protocol/index.ts';
import type { AttackDetector } from './attackDetector.ts';

/** The verdict that a query for a name would get, and what the guard knows about the name and its zone. */
export interface Explanation {
  readonly name: string;
  readonly type: string;
  /** Name of the known zone that contains the queried name. Empty if no known zone contains it. */
  readonly zone: string;
  readonly zone_attacked: boolean;
  readonly zone_judged_by_rate: boolean;
  /** Whether the zone is still to be seeded and was not observed for long. If so, none of its names is unknown. */
  readonly zone_awaits_names: boolean;
  readonly known: boolean;
  readonly known_types: readonly string[];
  /** Why the query needs a rate-limit token, `accessList` if an access list decides, or `none`. */
  readonly reason: string;
  readonly verdict:
    | 'passes'
    | 'is denied'
    | 'passes if a token is available'
    | 'passes, and is counted if no token is available';
}

interface NameAndType {
  readonly name: string;
  readonly type: { readonly name: string; readonly number: number };
}

/**
 * Returns the verdict that a query would get. Does not count the query, learn from it or take a token. Throws
 * `BadNameError` if the name is invalid.
 */
export function explain(detector: AttackDetector, { name, type }: NameAndType, nowMs: number): Explanation {
  const question = questionOf(name, type.number, detector.key);
  const zone = detector.zones.find(question);
  const place = detector.profile.find(question.hashHigh, question.hashLow);
  const access = detector.accessOfName(question);
  const reason = access === undefined ? detector.reasonToPay(question, zone, nowMs) : 'accessList';
  const paysNothing = access !== undefined || reason === 'none' || (reason === 'zoneRate' && zone.awaitsRate);
  const free = access === 'deny' ? 'is denied' : 'passes';
  const drops = detector.mayDrop(zone, reason, nowMs);
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
    verdict: paysNothing ? free : paying,
  };
}
