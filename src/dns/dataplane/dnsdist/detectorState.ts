import { createHash } from 'node:crypto';
import type { AttackDetector, Zone } from '../../detector/index.ts';
import type { BucketSize, DnsdistState, ZoneGroup } from './compileRules.ts';
import { DeepestZones } from './deepestZones.ts';

/** Returns the state of the attack detector from which the dnsdist rules are compiled. */
export function dnsdistStateOf(
  detector: AttackDetector,
  known: Pick<DnsdistState, 'typeCombinations' | 'busyNames' | 'unseededZones'>,
  nowMs: number,
): DnsdistState {
  const zones = detector.zones.all();
  const groups = new Groups(detector);
  const judgedByNames = zones.filter((zone) => !zone.byRate);
  const alarming = judgedByNames.flatMap(({ name, alarmPerSecond }) =>
    alarmPerSecond === undefined || name === '' ? [] : [{ name, alarmPerSecond }],
  );
  return {
    ...known,
    zones: new DeepestZones(zones.map(({ name }) => name)),
    accessLists: detector.accessLists,
    // As in the embedded data plane, clients are not limited before a threshold was derived from their traffic.
    clientRatePerSecond: detector.ready && detector.history.isLearned ? detector.clientRatePerSecond : 0,
    ...groups.all(),
    limitAction: detector.options.limitAction,
    bucket: detector.bucketSize(),
    calmBucket: inSteps(detector.calmBucketSize(), detector.calmFactor),
    attackedZones: judgedByNames.filter((zone) => zone.attacked(nowMs)).map(({ name }) => name),
    alarm: {
      zones: alarming.map(({ name }) => name),
      perSecond: alarming.reduce((most, { alarmPerSecond }) => Math.max(most, alarmPerSecond), 0),
    },
    zonesByRate: zones
      .filter((zone) => zone.byRate && zone.name !== '')
      .map((zone) => ({
        name: zone.name,
        group: groups.keyOf(zone),
        limits: zone.awaitsRate
          ? undefined
          : {
              unknown: inSteps(zone.shared.bucket, zone.allowance.factor),
              learned: inSteps(zone.shared.learnedBucket, zone.allowance.factor),
            },
      })),
    ceiling: ceilingInSteps(detector.ceilingSize()),
  };
}

/**
 * Returns the size of a bucket whose rate is raised by `factor`, in steps of two: dnsdist begins with a full bucket
 * whenever a limit changes, so frequent small changes would let a flood pass.
 */
function inSteps({ ratePerSecond, burst }: BucketSize, factor: number): BucketSize {
  return { ratePerSecond: (ratePerSecond / factor) * 2 ** Math.floor(Math.log2(factor)), burst };
}

/** Lowest ceiling, and the factor between its steps: the sum of the limits of zones is at least twice their rates. */
const LEAST_CEILING_PER_SECOND = 1000;
const CEILING_STEP = Math.SQRT2;

/** Returns the ceiling in steps, because it rises often on the first day. */
function ceilingInSteps({ ratePerSecond, burst }: BucketSize): BucketSize {
  const steps = Math.floor(Math.log(ratePerSecond / LEAST_CEILING_PER_SECOND) / Math.log(CEILING_STEP));
  const part = (LEAST_CEILING_PER_SECOND * CEILING_STEP ** steps) / ratePerSecond;
  return { ratePerSecond: ratePerSecond * part, burst: burst * part };
}

/** Groups of zones with the same settings. Queries outside of zones with a policy are a group, too. */
class Groups {
  readonly #detector: AttackDetector;
  readonly #byKey = new Map<string, ZoneGroup>();

  constructor(detector: AttackDetector) {
    this.#detector = detector;
    this.#add('', detector.zones.outside);
  }

  /** Returns the groups, and the zones with a policy, deepest first. */
  all(): Pick<DnsdistState, 'groups' | 'policies'> {
    const policies = this.#detector.zonesWithPolicy().map((zone) => ({
      zone: zone.name,
      group: this.keyOf(zone),
      labels: zone.name.split('.').length,
    }));
    policies.sort((a, b) => b.labels - a.labels || a.group.localeCompare(b.group));
    return {
      groups: [...this.#byKey.values()],
      policies: policies.map(({ zone, group }) => ({ zone, group })),
    };
  }

  /** Returns the key of a zone's group. */
  keyOf(zone: Zone): string {
    const policy = this.#detector.zoneOfPolicy(zone);
    if (policy === undefined || policy.name === '') return '';
    const { mode, level } = policy.shared;
    const isRated = policy.policy?.rate != null;
    const text = JSON.stringify([mode, level, this.#isSpared(policy), isRated ? policy.name : '']);
    // A tag of dnsdist is a short text.
    const key = createHash('sha256').update(text).digest('hex').slice(0, 12);
    if (!this.#byKey.has(key)) this.#add(key, policy);
    return key;
  }

  #add(key: string, zone: Zone): void {
    const { mode, level } = zone.shared;
    const limit = zone.policy?.rate == null ? undefined : this.#detector.zoneBucketSizes(zone).unknown;
    this.#byKey.set(key, {
      key,
      mode: mode === 'enabled' && this.#isSpared(zone) ? 'monitoring' : mode,
      level,
      limit,
    });
  }

  #isSpared({ shared }: Zone): boolean {
    return shared.onlyWhenUnhealthy && this.#detector.upstreamsHealthy;
  }
}
