/**
 * Starts and stops a guard with any data plane: restores the learned state, applies the rule in force, seeds zones,
 * runs the periodic tasks, and stores the learned state at the end.
 */

import { inBackground } from '../../platform/background/index.ts';
import { type Log, QUIET } from '../../platform/logging/index.ts';
import { type GuardLocation, timestampOfMillis } from '../../rules/index.ts';
import {
  LimitedExamples,
  QueryStats,
  type QueryStatsStore,
  RecentRates,
  RecentSamples,
  type ReportedAssessment,
  zoneAssessments,
} from '../analytics/index.ts';
import type { AttackEvent, AttackStore } from '../attacks/index.ts';
import type { DataPlane, MakeDataPlane } from '../dataplane/index.ts';
import type { AttackDetector, DetectorOptions, ProfileStore } from '../detector/index.ts';
import { seedZones, type ZoneSeeding, type ZoneSource } from '../zones/index.ts';
import { persistProfile, restoreDetector } from './persistProfile.ts';
import { storeMinutes } from './storeMinutes.ts';
import { type AttackTracker, trackAttacks } from './trackAttacks.ts';
import { type AccessListSource, watchAccessLists } from './watchAccessLists.ts';
import { type RuleSource, watchRules } from './watchRules.ts';
import { watchZonePolicies, type ZonePolicySource } from './watchZonePolicies.ts';

export interface GuardOptions {
  /** Location of the guard. Only rules whose scope contains this location apply. */
  readonly place: GuardLocation;
  readonly detector?: Partial<DetectorOptions>;
  /** Zones to seed. The guard already serves DNS during seeding. */
  readonly zones?: readonly ZoneSource[];
}

export interface GuardDependencies<P extends DataPlane = DataPlane> {
  readonly dataPlane: MakeDataPlane<P>;
  readonly rules: RuleSource;
  readonly lists?: AccessListSource;
  readonly zonePolicies?: ZonePolicySource;
  /** Stores of learned state, counts and attacks. Without a store, its data is lost when the guard stops. */
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
  readonly samples: RecentSamples;
  readonly attacks: AttackTracker;
  readonly seeding: ZoneSeeding;
  readonly dataPlane: P;
  /** Returns the assessments of zones, those with the most queries first. */
  assessments(): ReportedAssessment[];
  /** Discards what was learned about a zone and the zones below it that the same policy covers. */
  forget(zone: string): void;
  /**
   * Time of the last audit entry that the guard has read for requests to forget a zone. It is stored with the profile,
   * so that the guard reads the later entries at its next start. If a stored profile lacks it, it is the time at which
   * the profile was stored.
   */
  forgottenUntil: string | undefined;
  /** Stops serving DNS, and stores learned state, attacks and counts. */
  stop(): Promise<void>;
}

const TICK_MS = 1000;

/**
 * Starts the guard. If the rules, access lists or zone policies cannot be read, or the data plane cannot start, stops
 * everything and rejects.
 */
export async function startGuard<P extends DataPlane>(
  { place, detector: detectorOptions, zones = [] }: GuardOptions,
  {
    dataPlane: makeDataPlane,
    rules,
    lists,
    zonePolicies,
    profileStore,
    queryStatsStore,
    attackStore,
    onAttack,
    log = QUIET,
  }: GuardDependencies<P>,
): Promise<Guard<P>> {
  const stored = profileStore?.load();
  let forgottenUntil = stored && (stored.forgottenUntil ?? timestampOfMillis(stored.learned.savedMs));
  const detector = restoreDetector(detectorOptions, { stored, log });
  const dataPlane = makeDataPlane({ detector, log, isSeeding: () => seeding.busy });
  const verdicts = () => dataPlane.verdicts?.() ?? detector.verdicts;
  const stats = new QueryStats(detector, Date.now(), verdicts);
  const rates = new RecentRates(detector, Date.now(), verdicts);
  const recentSamples = new RecentSamples();
  const examples = new LimitedExamples(detector);
  const attacks = trackAttacks({ detector, attackStore, log, onAttack });
  const policyChanged = (): void => dataPlane.policyChanged();
  const seeding = seedZones(zones, {
    detector,
    log,
    onName: dataPlane.nameSeeded?.bind(dataPlane),
    onSeeded: policyChanged,
  });
  const watches: (() => void)[] = [];
  const stopWatches = (): void => {
    for (const stop of watches) stop();
  };
  try {
    watches.push(await watchRules(place, { rules, detector, stats, log, onRule: policyChanged }));
    if (lists !== undefined)
      watches.push(await watchAccessLists({ lists, detector, log, onLists: policyChanged }));
    if (zonePolicies !== undefined)
      watches.push(await watchZonePolicies({ zonePolicies, detector, log, onPolicies: policyChanged }));
    await dataPlane.start();
  } catch (error) {
    stopWatches();
    await dataPlane.stop();
    throw error;
  }
  // Seeding starts after the data plane, so that DNS does not wait for a zone that cannot be read.
  seeding.start();
  const profile = persistProfile(detector, { profileStore, log, forgottenUntil: () => forgottenUntil });
  const timer = setInterval(() => {
    const nowMs = Date.now();
    detector.setUpstreamsHealthy(dataPlane.upstreamsHealthy(nowMs), nowMs);
    detector.tick(nowMs);
    dataPlane.tick(nowMs);
    rates.sample(nowMs);
    const samples = dataPlane.takeSamples();
    attacks.tick(nowMs, samples);
    examples.add(samples);
    recentSamples.add(samples, nowMs);
    inBackground('DNS analytics', () => storeMinutes(stats.tick(nowMs), { queryStatsStore, log }));
  }, TICK_MS);
  return {
    detector,
    stats,
    rates,
    samples: recentSamples,
    attacks,
    seeding,
    dataPlane,
    get forgottenUntil() {
      return forgottenUntil;
    },
    set forgottenUntil(at) {
      forgottenUntil = at;
    },
    assessments: () => zoneAssessments(detector, examples, Date.now()),
    forget(zone) {
      detector.forget(zone, Date.now());
      examples.prune();
      profile.save();
      dataPlane.namesForgotten?.();
      policyChanged();
    },
    async stop() {
      clearInterval(timer);
      stopWatches();
      seeding.stop();
      await dataPlane.stop();
      await attacks.stop();
      await storeMinutes(stats.flush(Date.now()), { queryStatsStore, log });
      await profile.stop();
    },
  };
}
