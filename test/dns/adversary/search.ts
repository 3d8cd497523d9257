/** Attacks that the search tries, and the bounds that must hold after each of them (docs/internals/dns-threats.md). */
import fc from 'fast-check';
import {
  DAY_MINUTES,
  type Flow,
  type Sensitivities,
  World,
  type ZoneName,
  zoneNames,
  zonesWithProfile,
} from './world.ts';

/**
 * Highest possible alarm rate of a zone, in queries per second. A flood above it is limited, even if the attacker
 * taught names before.
 */
const ATTACK_PER_SECOND = 1000;
/** Minutes between two checks during a move. */
const STEP_MINUTES = 10;
/** Most that a limit may exceed the rate that was observed, by sensitivity. */
const HEADROOM = { low: 4, medium: 3, high: 2 } as const;
const DAY_MS = DAY_MINUTES * 60_000;
/** Tolerance of rates, which are means of minutes. */
const ROUNDING = 1.01;
/** Queries per second that pass for any zone. */
const FLOOR_PER_SECOND = 100;

export interface Attack {
  readonly sensitivities: Sensitivities;
  /** Queries per second that the servers answer. */
  readonly capacityPerSecond: number;
  readonly moves: readonly Move[];
}

export interface Move {
  /** Mode of the rule during the move. */
  readonly mode: 'enabled' | 'monitoring' | 'disabled';
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

const level = fc.constantFrom('low', 'medium', 'high');

/** Generates attacks of at most `maxMoves` moves, each of at most `maxDays` days. */
export const attacksOf = (maxMoves: number, maxDays: number): fc.Arbitrary<Attack> =>
  fc.record({
    sensitivities: fc.record({
      profile_sensitivity: fc.constantFrom('low', 'medium', 'high', 'very_high'),
      rate_sensitivity: level,
      burst_sensitivity: level,
    }),
    capacityPerSecond: fc.constantFrom(1000, 5000, Number.POSITIVE_INFINITY),
    moves: fc.array(moveOf(maxDays), { minLength: 1, maxLength: maxMoves }),
  });

const moveOf = (maxDays: number): fc.Arbitrary<Move> =>
  fc.record({
    mode: fc.constantFrom('enabled', 'enabled', 'monitoring', 'disabled'),
    flows: fc.array(flow, { minLength: 1, maxLength: 3 }),
    minutes: fc.constantFrom(
      1,
      10,
      60,
      240,
      ...[1, 4, 9].map((days) => Math.min(days, maxDays) * DAY_MINUTES),
    ),
    pauseMinutes: fc.constantFrom(0, 1, 10, 60, DAY_MINUTES),
  });

/** Returns the bounds that the attack broke, as texts; empty if all held. */
export function broken({ moves, sensitivities, capacityPerSecond }: Attack): string[] {
  const world = new World({ sensitivities, capacityPerSecond });
  const growth = new Growth(world);
  // Users query their names on at least three days before the attack begins.
  world.quietDays(4);
  const faults: string[] = [];
  for (const [index, { mode, flows, minutes, pauseMinutes }] of moves.entries()) {
    world.setMode(mode);
    for (const part of [
      { flows, minutes },
      { flows: [], minutes: pauseMinutes },
    ])
      for (let done = 0; done < part.minutes; done += STEP_MINUTES) {
        world.minutes(Math.min(STEP_MINUTES, part.minutes), part.flows);
        faults.push(...[...forgotten(world), ...growth.faults()].map((fault) => `${fault} in move ${index}`));
        if (faults.length > 0) return faults;
      }
  }
  world.setMode('enabled');
  for (const zone of zoneNames) faults.push(...floodPasses(world, sensitivities, zone));
  return faults;
}

/** Names of users must stay known. */
const forgotten = (world: World): string[] =>
  zonesWithProfile.flatMap((zone) => {
    const missing = world.missing(zone);
    return missing === 0 ? [] : [`${missing} names of users in ${zone} are no longer known`];
  });

/** Checks that the rate of a zone judged by rate at most doubles in a day, after the zone's free learning time. */
class Growth {
  readonly #world: World;
  /** For each zone, its rates in the last day, oldest first. */
  readonly #rates = new Map<ZoneName, { readonly atMs: number; readonly perSecond: number }[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Call after each step. Returns zones whose rate grew too fast, as texts. */
  faults(): string[] {
    return zoneNames.flatMap((name) => {
      const zone = this.#world.detector.zones.get(name);
      if (zone?.byRate !== true || zone.awaitsRate) {
        this.#rates.delete(name);
        return [];
      }
      const { nowMs } = this.#world;
      const perSecond = zone.usual.busiest.unknown.perSecond;
      const rates = (this.#rates.get(name) ?? []).filter(({ atMs }) => nowMs - atMs <= DAY_MS);
      this.#rates.set(name, [...rates, { atMs: nowMs, perSecond }]);
      const [oldest] = rates;
      if (oldest === undefined) return [];
      const most =
        Math.max(FLOOR_PER_SECOND, oldest.perSecond) * 2 ** ((nowMs - oldest.atMs) / DAY_MS) * ROUNDING;
      return perSecond <= most ? [] : [`the rate of ${name} grew from ${oldest.perSecond} to ${perSecond}`];
    });
  }
}

/** After two seconds, a flood above the alarm rate passes only at the rate of the bucket, and queries of users pass. */
function floodPasses(world: World, { rate_sensitivity }: Sensitivities, zone: ZoneName): string[] {
  const { detector } = world;
  const { ratePerSecond, burst } = bucketOf(world, zone);
  const isByRate = detector.zones.get(zone)?.byRate === true;
  const mostPerSecond = ROUNDING * HEADROOM[rate_sensitivity] * Math.max(FLOOR_PER_SECOND, world.highestRate);
  if (!isByRate && ratePerSecond > mostPerSecond)
    return [
      `the bucket refills at ${ratePerSecond} a second, but the servers carried at most ${world.highestRate}`,
    ];
  // The burst, which passes as intended, must be spent within five seconds.
  const floodPerSecond = Math.max(1.5 * ATTACK_PER_SECOND, 2 * ratePerSecond, ratePerSecond + burst / 5);
  // Simulating higher rates query by query would need too much time.
  if (floodPerSecond > 8000) return [];
  const burstSeconds = Math.ceil(burst / (floodPerSecond - ratePerSecond));
  const passed = world.flood(zone, floodPerSecond, Math.min(8, 2 + burstSeconds));
  const most = 1.1 * bucketOf(world, zone).ratePerSecond + 20;
  const faults = [];
  if (passed.random > most)
    faults.push(
      `${passed.random} of ${floodPerSecond} random names a second pass in ${zone}; the limit is ${most}`,
    );
  if (zonesWithProfile.includes(zone) && passed.users < 39)
    faults.push(`only ${passed.users} of 40 queries of users a second pass in ${zone}`);
  return faults;
}

function bucketOf({ detector }: World, zone: ZoneName): { ratePerSecond: number; burst: number } {
  const found = detector.zones.get(zone);
  return found?.byRate === true ? found.bucket : detector.bucketSize();
}
