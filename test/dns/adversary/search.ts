/** Attacks that the search tries, and the bounds that must hold after each of them (docs/internals/dns-threats.md). */
import fc from 'fast-check';
import { DAY_MINUTES, type Flow, World, type ZoneName, zoneNames } from './world.ts';

/**
 * Highest possible alarm rate of a zone, in queries per second. A flood above it is limited, even if the attacker
 * taught names before.
 */
const ATTACK_PER_SECOND = 1000;
/** Minutes between two checks during a move. */
const STEP_MINUTES = 10;

export interface Move {
  readonly flows: readonly Flow[];
  readonly minutes: number;
  /** Minutes after the move in which only users send queries. */
  readonly pauseMinutes: number;
}

const perSecond = fc.constantFrom(0, 0, 1, 10, 49, 80, 99, 150, 199, 300, 700, 999, 3000, 20_000);

const flow: fc.Arbitrary<Flow> = fc.record({
  zone: fc.constantFrom(...zoneNames),
  randomPerSecond: perSecond,
  knownPerSecond: perSecond,
  taughtNames: fc.constantFrom(0, 0, 10, 200, 1000),
});

/** Generates attacks of at most `maxMoves` moves, each of at most `maxDays` days. */
export const movesOf = (maxMoves: number, maxDays: number): fc.Arbitrary<Move[]> =>
  fc.array(
    fc.record({
      flows: fc.array(flow, { minLength: 1, maxLength: 3 }),
      minutes: fc.constantFrom(
        1,
        10,
        60,
        240,
        ...[1, 4, 9].map((days) => Math.min(days, maxDays) * DAY_MINUTES),
      ),
      pauseMinutes: fc.constantFrom(0, 1, 10, 60, DAY_MINUTES),
    }),
    { minLength: 1, maxLength: maxMoves },
  );

/** Returns the bounds that the attack broke, as texts; empty if all held. */
export function broken(attack: readonly Move[]): string[] {
  const world = new World();
  // Users query their names on at least three days before the attack begins.
  world.quietDays(4);
  const faults: string[] = [];
  for (const [index, { flows, minutes, pauseMinutes }] of attack.entries()) {
    for (let done = 0; done < minutes; done += STEP_MINUTES) {
      world.minutes(Math.min(STEP_MINUTES, minutes), flows);
      faults.push(...forgotten(world).map((fault) => `${fault} in move ${index}`));
      if (faults.length > 0) return faults;
    }
    for (let done = 0; done < pauseMinutes; done += STEP_MINUTES)
      world.minutes(Math.min(STEP_MINUTES, pauseMinutes), []);
  }
  for (const zone of zoneNames) faults.push(...floodPasses(world, zone));
  return faults;
}

/** Names of users must stay known. */
const forgotten = (world: World): string[] =>
  zoneNames.flatMap((zone) => {
    const missing = world.missing(zone);
    return missing === 0 ? [] : [`${missing} names of users in ${zone} are no longer known`];
  });

/** After two seconds, a flood above the alarm rate passes only at the rate of the bucket, and queries of users pass. */
function floodPasses(world: World, zone: ZoneName): string[] {
  const { detector } = world;
  const { ratePerSecond } = bucketOf(world, zone);
  if (detector.zones.get(zone)?.byRate !== true && ratePerSecond > 1.01 * Math.max(100, world.highestRate))
    return [
      `the bucket refills at ${ratePerSecond} a second, but the servers carried at most ${world.highestRate}`,
    ];
  const floodPerSecond = Math.max(1.5 * ATTACK_PER_SECOND, 2 * ratePerSecond);
  // Simulating higher rates query by query would need too much time.
  if (floodPerSecond > 8000) return [];
  // The burst is spent first, as intended.
  const burstSeconds = Math.ceil(bucketOf(world, zone).burst / (floodPerSecond - ratePerSecond));
  const passed = world.flood(zone, floodPerSecond, Math.min(8, 2 + burstSeconds));
  const most = 1.1 * ratePerSecond + 20;
  const faults = [];
  if (passed.random > most)
    faults.push(
      `${passed.random} of ${floodPerSecond} random names a second pass in ${zone}; the limit is ${most}`,
    );
  if (passed.users < 39) faults.push(`only ${passed.users} of 40 queries of users a second pass in ${zone}`);
  return faults;
}

function bucketOf({ detector }: World, zone: ZoneName): { ratePerSecond: number; burst: number } {
  const found = detector.zones.get(zone);
  return found?.byRate === true ? found.bucket : detector.bucketSize();
}
