/** Bounds for honest worlds (docs/internals/dns-honest.md). */
import { AnswerKind } from '../../../src/dns/protocol/index.ts';
import { attacksOn, OTHER_ZONE } from './attacks.ts';
import { type Combination, nameOf } from './combinations.ts';
import { DAY, type DataPlaneName, type World } from './flows.ts';
import { Simulation } from './simulation.ts';
import type { Counts } from './tally.ts';

/** Largest share of honest queries that may be limited outside of attacks and during attacks on other zones. */
const MOST_LIMITED = 0.001;
/**
 * Instead, with dnsdist during attacks on other zones: until Floodgate has sent rules for the attack, at most a second
 * later, its unknown names use up the bucket that all zones share.
 */
const MOST_LIMITED_BEFORE_RULES = 0.003;
/** Instead, for a launch or a crowd at `very_high`. */
const MOST_LIMITED_IN_CROWD = 0.05;
/** Instead, for a crowd for new names in a zone that is judged by rate. */
const MOST_LIMITED_OF_NEW = 0.01;
/** Largest share of queries for recurring names that may be limited during an attack on their zone. */
const MOST_RECURRING_LIMITED = 0.01;
/** Tolerance for shares that follow from the chance of single queries. */
const TOLERANCE = 0.9;

function mostLimited({ exception }: World, { profile_sensitivity }: Combination): number {
  if (exception === 'newNameCrowd') return MOST_LIMITED_OF_NEW;
  return exception !== undefined && profile_sensitivity === 'very_high'
    ? MOST_LIMITED_IN_CROWD
    : MOST_LIMITED;
}

const percent = (share: number): string => `${(100 * share).toFixed(3)} %`;
const zonesOf = (world: World): string[] => [...new Set(world.flows.map(({ zone }) => zone))];

/** Simulates a day without an attack on the world's own zone. Returns the bounds that do not hold, as texts. */
export function faultsOfDay(world: World, combination: Combination, dataPlane: DataPlaneName): string[] {
  const attacks = attacksOn(OTHER_ZONE, AnswerKind.nxdomain);
  const simulation = new Simulation({ world, combination, attacks, dataPlane });
  simulation.run(DAY);
  return zonesOf(world).flatMap((zone) => {
    const periods = zone === OTHER_ZONE ? (['quiet'] as const) : (['quiet', 'elsewhere'] as const);
    return periods.flatMap((period) => {
      const { limitedShare } = simulation.tally.of(zone, period);
      const beforeRules = dataPlane === 'dnsdist' && period === 'elsewhere' ? MOST_LIMITED_BEFORE_RULES : 0;
      const most = Math.max(beforeRules, mostLimited(world, combination));
      if (limitedShare <= most) return [];
      return [
        `${nameOf(combination)} ${zone} ${period}: ${percent(limitedShare)} limited, at most ${percent(most)}`,
      ];
    });
  });
}

/** Simulates a day with attacks on the world's own zone. Returns the bounds that do not hold, as texts. */
export function faultsUnderAttack(
  world: World,
  combination: Combination,
  dataPlane: DataPlaneName,
): string[] {
  const attacks = attacksOn(world.zone, world.inventedKind);
  const simulation = new Simulation({ world, combination, attacks, dataPlane });
  const faults: string[] = [];
  const say = (text: string) => faults.push(`${nameOf(combination)} ${world.zone} ${text}`);
  const passes: Pass[] = [];
  for (const { from, to, flow } of attacks) {
    simulation.run(from);
    const limitPerSecond = limitOf(simulation, world);
    const before = { ...simulation.tally.of(world.zone, 'here') };
    simulation.run(to);
    const after = simulation.tally.of(world.zone, 'here');
    const honestPerSecond = world.flows
      .filter(({ zone }) => zone === world.zone)
      .reduce((sum, { perSecond }) => sum + perSecond(from), 0);
    const allPerSecond = flow.perSecond(from) + honestPerSecond;
    passes.push({
      least: TOLERANCE * Math.min(1, limitPerSecond / allPerSecond),
      forwarded: (after.forwarded - before.forwarded) / Math.max(1, after.asked - before.asked),
      floodPerSecond: flow.perSecond(from),
    });
  }
  simulation.run(DAY);
  const here = simulation.tally.of(world.zone, 'here');
  if (world.isList) listFaults(here, passes).forEach(say);
  else if (here.recurringLimitedShare > MOST_RECURRING_LIMITED)
    say(
      `under attack: ${percent(here.recurringLimitedShare)} of queries for recurring names limited, at most ` +
        percent(MOST_RECURRING_LIMITED),
    );
  const most = mostLimited(world, combination);
  const { limitedShare } = simulation.tally.of(world.zone, 'quiet');
  if (limitedShare > most)
    say(`outside of attacks on it: ${percent(limitedShare)} limited, at most ${percent(most)}`);
  const elsewhere = simulation.tally.of(OTHER_ZONE, 'elsewhere');
  if (elsewhere.limitedShare > MOST_LIMITED)
    say(`under attack: ${percent(elsewhere.limitedShare)} limited in ${OTHER_ZONE}`);
  return faults;
}

/** Share of honest queries that pass one flood. */
interface Pass {
  readonly floodPerSecond: number;
  readonly forwarded: number;
  readonly least: number;
}

function listFaults(here: Counts, passes: readonly Pass[]): string[] {
  const faults = passes
    .filter(({ forwarded, least }) => forwarded < least)
    .map(
      ({ floodPerSecond, forwarded, least }) =>
        `flood of ${floodPerSecond}/s: ${percent(forwarded)} forwarded, at least ${percent(least)}`,
    );
  const silentShare = here.silent / Math.max(1, here.asked);
  if (silentShare > MOST_LIMITED)
    faults.push(`under attack: ${percent(silentShare)} from known networks dropped without TC=1`);
  return faults;
}

/** Returns the rate at which queries of the zone for new names pass: of the policy, the zone or the account. */
function limitOf({ detector }: Simulation, world: World): number {
  const zone = detector.zones.get(world.zone);
  return zone?.byRate === true ? zone.bucket.ratePerSecond : detector.bucketSize().ratePerSecond;
}
