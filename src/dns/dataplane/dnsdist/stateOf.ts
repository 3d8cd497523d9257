import type { AttackDetector } from '../../detector/index.ts';
import type { DnsdistState } from './compileRules.ts';

/** What the detector wants of dnsdist now, with what this data plane knows besides. */
export function stateOf(
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
    // As for the embedded guard: not before there is a threshold that rests on traffic.
    clientRatePerSecond: detector.ready && detector.history.founded ? detector.clientRatePerSecond : 0,
    rule: detector.rule,
    refuseWith: detector.options.refuseWith,
    bucket: detector.bucketSize(),
    attackedZones: judgedByNames.filter((zone) => zone.attacked(nowMs)).map(({ name }) => name),
    alarm: {
      zones: alarming.map(({ name }) => name),
      perSecond: alarming.reduce((most, { alarmPerSecond }) => Math.max(most, alarmPerSecond), 0),
    },
    zonesByRate: zones
      .filter((zone) => zone.byRate && zone.name !== '')
      .map(({ name, bucket: { ratePerSecond, burst } }) => ({ name, ratePerSecond, burst })),
  };
}
