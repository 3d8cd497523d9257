import type { AttackDetector } from '../../detector/index.ts';
import type { DnsdistState } from './compileRules.ts';

/** Returns the state of the attack detector from which the dnsdist rules are compiled. */
export function dnsdistStateOf(
  detector: AttackDetector,
  known: Pick<DnsdistState, 'typeCombinations' | 'busyNames' | 'unseededZones'>,
): DnsdistState {
  const nowMs = Date.now();
  const zones = detector.zones.all();
  const judgedByNames = zones.filter((zone) => !zone.byRate);
  const alarming = judgedByNames.flatMap(({ name, alarmPerSecond }) =>
    alarmPerSecond === undefined || name === '' ? [] : [{ name, alarmPerSecond }],
  );
  return {
    ...known,
    accessLists: detector.accessLists,
    // As in the embedded data plane, clients are not limited before a threshold was derived from their traffic.
    clientRatePerSecond: detector.ready && detector.history.isLearned ? detector.clientRatePerSecond : 0,
    rule: detector.rule,
    limitAction: detector.options.limitAction,
    bucket: detector.bucketSize(),
    attackedZones: judgedByNames.filter((zone) => zone.attacked(nowMs)).map(({ name }) => name),
    alarm: {
      zones: alarming.map(({ name }) => name),
      perSecond: alarming.reduce((most, { alarmPerSecond }) => Math.max(most, alarmPerSecond), 0),
    },
    zonesByRate: zones
      .filter((zone) => zone.byRate && zone.name !== '')
      .map(({ name, awaitsRate, bucket: { ratePerSecond, burst } }) => ({
        name,
        limit: awaitsRate ? undefined : { ratePerSecond, burst },
      })),
  };
}
