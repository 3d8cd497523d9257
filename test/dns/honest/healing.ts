/** What must heal within ten minutes without an operator (docs/internals/dns-honest.md). */
import { AnswerKind } from '../../../src/dns/protocol/index.ts';
import { floodOf } from './attacks.ts';
import type { Combination } from './combinations.ts';
import { DAY, type DataPlaneName, flow, HOUR, MINUTE, type World, world } from './flows.ts';
import { labelOf, newNames, zipf } from './names.ts';
import { Simulation } from './simulation.ts';

const { records, nxdomain } = AnswerKind;
const HEALED_AFTER = 10 * MINUTE;

export interface Case {
  readonly combination: Combination;
  readonly dataPlane: DataPlaneName;
}

const DENYING = 'denying.test';
/** Counts apart from its zone. */
const NEW_NAME = `new.${DENYING}`;
const APPEARS = HOUR + 2 * MINUTE;

const denying = (perSecond: number): World =>
  world('a zone that denies names', DENYING, {
    seeds: { [DENYING]: [DENYING, ...Array.from({ length: 100 }, (_, n) => `h${n}.${DENYING}`)] },
    inventedKind: nxdomain,
    flows: [
      flow(DENYING, 50, { names: zipf(100, (n) => `h${n}.${DENYING}`), kind: records }),
      flow(DENYING, 2, { names: newNames((n) => `typo-${labelOf(n)}.${DENYING}`), kind: nxdomain }),
      flow(NEW_NAME, (second) => (second < APPEARS ? 0 : perSecond), {
        names: zipf(1, () => NEW_NAME),
        kind: records,
        // The first queries decide when the name becomes known.
        isExact: (second) => second < APPEARS + 10,
      }),
    ],
  });

/**
 * Returns the share of limited queries for a name that appears during a flood, in the five minutes after it had time to
 * become known.
 */
export function limitedNewName({ combination, dataPlane }: Case, perSecond: number): number {
  const attack = floodOf(DENYING, nxdomain, { perSecond: 3000, from: HOUR, to: 2 * HOUR });
  const attacks = [attack];
  return limitedIn(new Simulation({ world: denying(perSecond), combination, attacks, dataPlane }), {
    zone: NEW_NAME,
    from: APPEARS + HEALED_AFTER,
    to: APPEARS + HEALED_AFTER + 5 * MINUTE,
  });
}

const TENANTS = 'tenants.grown.test';
const growing = (perSecond: number): World =>
  world('a zone judged by rate that grows', TENANTS, {
    seeds: { 'grown.test': ['grown.test', `*.${TENANTS}`] },
    known: [],
    inventedKind: records,
    changes: [[DAY, DAY + HOUR]],
    flows: [
      flow(TENANTS, (second) => (second < DAY ? 100 : perSecond), {
        names: zipf(500, (n) => `t${n}.${TENANTS}`),
        kind: records,
      }),
    ],
  });

/**
 * Returns the share of limited queries of a zone with 100/s for a day and `perSecond` after it, in the ten minutes after
 * its limit had time to follow.
 */
export function limitedGrowth({ combination, dataPlane }: Case, perSecond: number): number {
  return limitedIn(new Simulation({ world: growing(perSecond), combination, dataPlane }), {
    zone: TENANTS,
    from: DAY + HEALED_AFTER,
    to: DAY + 2 * HEALED_AFTER,
  });
}

interface Interval {
  readonly zone: string;
  readonly from: number;
  readonly to: number;
}

function limitedIn(simulation: Simulation, { zone, from, to }: Interval): number {
  simulation.run(from);
  const { asked, limited } = simulation.tally.total(zone);
  simulation.run(to);
  const total = simulation.tally.total(zone);
  return (total.limited - limited) / Math.max(1, total.asked - asked);
}
