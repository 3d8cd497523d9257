import type { ZonePolicy } from '../../../src/rules/index.ts';
import { zonePolicy } from '../support/zonePolicy.ts';
import type { World } from './flows.ts';

const BURST_FACTOR = 5;
/** Headroom over the observed rate in the rate that the assessment proposes. */
const PROPOSED_HEADROOM = 2;

/**
 * Returns the policies that an operator sets after the hour of monitoring, because the assessment proposes them: a rate
 * for a blocklist or a reverse zone.
 */
export function policiesFor({ zone, isList, flows }: World): readonly ZonePolicy[] {
  if (!isList) return [];
  const observed = flows
    .filter((flow) => flow.zone === zone)
    .reduce((sum, { perSecond }) => sum + perSecond(0), 0);
  return [byRate(zone, Math.ceil(PROPOSED_HEADROOM * observed))];
}

const byRate = (zone: string, rate: number): ZonePolicy =>
  zonePolicy({ zone, judge_by: 'rate', rate, burst: BURST_FACTOR * rate });
