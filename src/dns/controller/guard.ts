/**
 * Guard life cycle, independent of the data plane: restores the learned state, applies the rule in force, seeds zones,
 * runs the work of each second, and stores the learned state at the end.
 */

import { inBackground } from '../../platform/background/index.ts';
import { type Log, QUIET } from '../../platform/logging/index.ts';
import type { GuardLocation } from '../../rules/index.ts';
import { QueryStats, type QueryStatsStore, RecentRates } from '../analytics/index.ts';
import type { AttackEvent, AttackStore } from '../attacks/index.ts';
import type { DataPlane, MakeDataPlane } from '../dataplane/index.ts';
import type { AttackDetector, DetectorOptions, ProfileStore } from '../detector/index.ts';
import { seedZones, type ZoneSeeding, type ZoneSource } from '../zones/index.ts';
import { persistProfile, restoreDetector } from './persistProfile.ts';
import { storeMinutes } from './storeMinutes.ts';
import { type AttackTracker, trackAttacks } from './trackAttacks.ts';
import { type AccessListSource, watchAccessLists } from './watchAccessLists.ts';
import { type RuleSource, watchRules } from './watchRules.ts';

export interface GuardOptions {
  /** Location of the guard, which selects the rules that apply. */
  readonly place: GuardLocation;
  readonly detector?: Partial<DetectorOptions>;
  /** Zones to seed at the start. DNS is already answered during seeding. */
  readonly zones?: readonly ZoneSource[];
}

export interface GuardDependencies<P extends DataPlane = DataPlane> {
  readonly dataPlane: MakeDataPlane<P>;
  readonly rules: RuleSource;
  readonly lists?: AccessListSource;
  /** Stores of learned state and counts. Default: nothing is persisted. */
  readonly profileStore?: ProfileStore;
  readonly queryStatsStore?: QueryStatsStore;
  readonly attackStore?: AttackStore;
  readonly onAttack?: ((event: AttackEvent) => void) | undefined;
  readonly log?: Log;
}

export interface Guard<P extends DataPlane = DataPlane> {
  readonly detector: AttackDetector;
  readonly stats: QueryStats;
  readonly rates: RecentRates;
  readonly attacks: AttackTracker;
  readonly seeding: ZoneSeeding;
  readonly dataPlane: P;
  /** Stops answering and stores the learned state. */
  stop(): Promise<void>;
}

const TICK_MS = 1000;

/**
 * Starts the guard. Stops everything and rejects if the data plane or the first read of rules or access lists fails.
 */
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
  const detector = restoreDetector(detectorOptions, { profileStore, log });
  const dataPlane = makeDataPlane({ detector, log, isSeeding: () => seeding.busy });
  const verdicts = () => dataPlane.verdicts?.() ?? detector.verdicts;
  const stats = new QueryStats(detector, Date.now(), verdicts);
  const rates = new RecentRates(detector, Date.now(), verdicts);
  const attacks = trackAttacks({ detector, attackStore, log, onAttack });
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
    stopRules = await watchRules(place, { rules, detector, stats, log, onRule: policyChanged });
    if (lists !== undefined)
      stopLists = await watchAccessLists({ lists, detector, log, onLists: policyChanged });
    await dataPlane.start();
  } catch (error) {
    stopRules();
    stopLists();
    await dataPlane.stop();
    throw error;
  }
  // Seeding starts last, so that an unreachable server or zone does not delay DNS.
  seeding.start();
  const profile = persistProfile(detector, { profileStore, log });
  const timer = setInterval(() => {
    const nowMs = Date.now();
    detector.tick(nowMs);
    dataPlane.tick(nowMs);
    rates.sample(nowMs);
    attacks.tick(nowMs, dataPlane.takeSamples());
    inBackground('DNS analytics', () => storeMinutes(stats.tick(nowMs), { queryStatsStore, log }));
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
