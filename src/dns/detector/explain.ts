import { questionOf, typeNames } from '../protocol/index.ts';
import type { AttackDetector } from './attackDetector.ts';

/** What the guard would do with a query for a name, and why. */
export interface Explanation {
  readonly name: string;
  readonly type: string;
  /** The zone that the name is judged in; empty for a name outside every zone that the guard knows. */
  readonly zone: string;
  readonly zone_attacked: boolean;
  readonly zone_judged_by_rate: boolean;
  /** Whether the names of the zone are still being read: none of them is unknown until then. */
  readonly zone_awaits_names: boolean;
  readonly known: boolean;
  /** The query types that the name is known with. */
  readonly known_types: readonly string[];
  /** Why it has to pay a token, `none` where it does not. */
  readonly reason: string;
  readonly verdict: 'passes' | 'passes if there is a token' | 'passes, and is counted if there is no token';
}

interface NameAndType {
  readonly name: string;
  readonly type: { readonly name: string; readonly number: number };
}

/** Looks without touching: nothing is counted, learned or paid. Throws `BadNameError` for what is no name. */
export function explain(detector: AttackDetector, { name, type }: NameAndType, nowMs: number): Explanation {
  const question = questionOf(name, type.number, detector.key);
  const zone = detector.zones.find(question);
  const place = detector.profile.find(question.hashHigh, question.hashLow);
  const reason = detector.reasonToPay(question, zone, nowMs);
  const drops = detector.rule?.mode === 'enabled' && detector.mayDrop(zone, nowMs);
  const paying = drops ? 'passes if there is a token' : 'passes, and is counted if there is no token';
  return {
    name,
    type: type.name,
    zone: zone.name,
    zone_attacked: zone.attacked(nowMs),
    zone_judged_by_rate: zone.byRate,
    zone_awaits_names: zone.awaitsNames,
    known: place >= 0,
    known_types: place >= 0 ? typeNames(detector.profile.types(place)) : [],
    reason,
    verdict: reason === 'none' ? 'passes' : paying,
  };
}
