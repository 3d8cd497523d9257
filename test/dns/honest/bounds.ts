/** Bounds for honest worlds (docs/internals/dns-honest.md). */
import { AnswerKind } from '../../../src/dns/protocol/index.ts';
import { type Attack, attacksOn, BETWEEN_OTHERS, OTHER_ZONE } from './attacks.ts';
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

/**
 * Simulates a day with attacks on the world's own zone and on another zone, in turn. Returns the bounds that do not
 * hold, as texts.
 */
export function faultsOfDay(world: World, combination: Combination, dataPlane: DataPlaneName): string[] {
  const ownAttacks = attacksOn(world.zone, world.inventedKind, BETWEEN_OTHERS);
  const attacks = [...attacksOn(OTHER_ZONE, AnswerKind.nxdomain), ...ownAttacks];
  const simulation = new Simulation({ world, combination, attacks, dataPlane });
  const passes = ownAttacks.map((attack) => passOf(simulation, world, attack));
  simulation.run(DAY);
  const faults = [
    ...zonesOf(world).flatMap((zone) =>
      limitedFaults(simulation, zone, zone === OTHER_ZONE ? MOST_LIMITED : mostLimited(world, combination)),
    ),
    ...ownFaults(simulation.tally.of(world.zone, 'here'), world, passes),
  ];
  return faults.map((fault) => `${nameOf(combination)} ${fault}`);
}

/** Checks the queries of a zone in the day without the attacks on it, and those during attacks on other zones alone. */
function limitedFaults({ tally, dataPlane }: Simulation, zone: string, most: number): string[] {
  const [quiet, elsewhere] = [tally.of(zone, 'quiet'), tally.of(zone, 'elsewhere')];
  // The other zone has hardly any queries for unknown names, which alone need tokens.
  const isDelayed = dataPlane === 'dnsdist' && zone !== OTHER_ZONE;
  const mostElsewhere = isDelayed ? Math.max(MOST_LIMITED_BEFORE_RULES, most) : most;
  const day = (quiet.limited + elsewhere.limited) / Math.max(1, quiet.asked + elsewhere.asked);
  const bounds = [
    { period: 'in the day', share: day, bound: most },
    { period: 'during attacks on other zones', share: elsewhere.limitedShare, bound: mostElsewhere },
  ];
  return bounds
    .filter(({ share, bound }) => share > bound)
    .map(
      ({ period, bound, share }) => `${zone} ${period}: ${percent(share)} limited, at most ${percent(bound)}`,
    );
}

/** Checks the queries of the attacked zone during the attacks on it. */
function ownFaults(here: Counts, { zone, isList }: World, passes: readonly Pass[]): string[] {
  if (isList) return listFaults(here, passes).map((fault) => `${zone} ${fault}`);
  const share = here.recurringLimitedShare;
  if (share <= MOST_RECURRING_LIMITED) return [];
  const most = percent(MOST_RECURRING_LIMITED);
  return [`${zone} under attack: ${percent(share)} of queries for recurring names limited, at most ${most}`];
}

/** Runs a simulation until the end of an attack on the world's own zone. */
function passOf(simulation: Simulation, world: World, { from, to, flow }: Attack): Pass {
  simulation.run(from);
  const limitPerSecond = limitOf(simulation, world);
  const before = { ...simulation.tally.of(world.zone, 'here') };
  simulation.run(to);
  const after = simulation.tally.of(world.zone, 'here');
  const honestPerSecond = world.flows
    .filter(({ zone }) => zone === world.zone)
    .reduce((sum, { perSecond }) => sum + perSecond(from), 0);
  const allPerSecond = flow.perSecond(from) + honestPerSecond;
  return {
    least: TOLERANCE * Math.min(1, limitPerSecond / allPerSecond),
    forwarded: (after.forwarded - before.forwarded) / Math.max(1, after.asked - before.asked),
    floodPerSecond: flow.perSecond(from),
  };
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
