/**
 * The life cycle of the guard, whichever data plane carries DNS: what an earlier run learned, the rule in force, the zones, a
 * look at everything each second, and what is stored at the end.
 */

import { type Log, QUIET } from '../../platform/logging/index.ts';
import type { Place } from '../../rules/index.ts';
import { QueryStats, type QueryStatsStore, RecentRates } from '../analytics/index.ts';
import type { AttackEvent, AttackStore } from '../attacks/index.ts';
import type { DataPlane, MakeDataPlane } from '../dataplane/index.ts';
import type { AttackDetector, DetectorOptions, ProfileStore } from '../detector/index.ts';
import { seedZones, type ZoneSeeding, type ZoneSource } from '../zones/index.ts';
import { type AccessListSource, followAccessLists } from './followAccessLists.ts';
import { type Attacks, followAttacks } from './followAttacks.ts';
import { followRules, type RuleSource } from './followRules.ts';
import { persistProfile, restoredDetector } from './persistProfile.ts';
import { storeMinutes } from './storeMinutes.ts';

export interface GuardOptions {
  /** Which rules apply here. */
  readonly place: Place;
  readonly detector?: Partial<DetectorOptions>;
  /** Zones whose names are read at the start, while DNS is answered already. */
  readonly zones?: readonly ZoneSource[];
}

export interface GuardDependencies<P extends DataPlane = DataPlane> {
  readonly dataPlane: MakeDataPlane<P>;
  readonly rules: RuleSource;
  /** None where left out. */
  readonly lists?: AccessListSource;
  /** Where what is learned and counted is kept; nowhere where left out. */
  readonly profileStore?: ProfileStore;
  readonly queryStatsStore?: QueryStatsStore;
  readonly attackStore?: AttackStore;
  /** Hears of attacks that begin, change or end. */
  readonly onAttack?: ((event: AttackEvent) => void) | undefined;
  readonly log?: Log;
}

export interface Guard<P extends DataPlane = DataPlane> {
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  readonly rates: RecentRates;
  readonly attacks: Attacks;
  /** How far the zones are whose names are known from the start. */
  readonly seeding: ZoneSeeding;
  readonly dataPlane: P;
  /** Stops answering and stores what was learned. */
  stop(): Promise<void>;
}

const TICK_MS = 1000;

/** Rejects where the data plane cannot start, or the rules cannot be read the first time: then nothing is left running. */
export async function startGuard<P extends DataPlane>(
  { place, detector: detectorOptions, zones = [] }: GuardOptions,
  {
    dataPlane: makeDataPlane,
    rules,
    lists,
    profileStore,
    queryStatsStore,
    attackStore,
    onAttack,
    log = QUIET,
  }: GuardDependencies<P>,
): Promise<Guard<P>> {
  const detector = restoredDetector(detectorOptions, { profileStore, log });
  const dataPlane = makeDataPlane({ detector, log, isSeeding: () => seeding.busy });
  const verdicts = () => dataPlane.verdicts?.() ?? detector.verdicts;
  const stats = new QueryStats(detector, Date.now(), verdicts);
  const rates = new RecentRates(detector, Date.now(), verdicts);
  const attacks = followAttacks({ detector, attackStore, log, onAttack });
  const policyChanged = (): void => dataPlane.policyChanged();
  const seeding = seedZones(zones, {
    detector,
    log,
    onName: dataPlane.nameSeeded?.bind(dataPlane),
    onSeeded: policyChanged,
  });
  let stopRules = (): void => {};
  let stopLists = (): void => {};
  try {
    stopRules = await followRules(place, { rules, detector, stats, log, onRule: policyChanged });
    if (lists !== undefined)
      stopLists = await followAccessLists({ lists, detector, log, onLists: policyChanged });
    await dataPlane.start();
  } catch (error) {
    stopRules();
    stopLists();
    await dataPlane.stop();
    throw error;
  }
  // Behind everything that answers: neither a server nor a zone that is away keeps DNS waiting.
  seeding.start();
  const profile = persistProfile(detector, { profileStore, log });
  const timer = setInterval(() => {
    const nowMs = Date.now();
    detector.tick(nowMs);
    dataPlane.tick(nowMs);
    rates.note(nowMs);
    attacks.tick(nowMs, dataPlane.takeSamples());
    void storeMinutes(stats.tick(nowMs), { queryStatsStore, log });
  }, TICK_MS);
  return {
    detector,
    stats,
    rates,
    attacks,
    seeding,
    dataPlane,
    async stop() {
      clearInterval(timer);
      stopRules();
      stopLists();
      seeding.stop();
      await dataPlane.stop();
      await attacks.stop();
      await storeMinutes(stats.flush(Date.now()), { queryStatsStore, log });
      await profile.stop();
    },
  };
}
