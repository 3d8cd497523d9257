/** Changes that operators make, and faults of servers. */
import { AnswerKind } from '../../../../src/dns/protocol/index.ts';
import { DELEGATION, type Flow, flow, HOUR, MINUTE, type Rate, world } from '../flows.ts';
import { labelOf, newNames, zipf } from '../names.ts';

const { records, nxdomain } = AnswerKind;

const MOVE = 10 * MINUTE;
const namesOf = (zone: string, size: number): string[] => [
  zone,
  ...Array.from({ length: size }, (_, n) => `h${n}.${zone}`),
];

/** Returns queries for names of a zone, of which 4 % do not exist. */
const ordinary = (zone: string, size: number, perSecond: Rate): Flow[] => [
  flow(zone, (second) => 0.96 * perSecond(second), {
    names: zipf(size, (n) => `h${n}.${zone}`),
    kind: records,
  }),
  flow(zone, (second) => 0.04 * perSecond(second), {
    names: newNames((n) => `typo-${labelOf(n)}.${zone}`),
    kind: nxdomain,
  }),
];

const sinceMove =
  (perSecond: number): Rate =>
  (second) =>
    second < MOVE ? 0 : perSecond;

const OUTAGE = [4 * HOUR, 4 * HOUR + 10 * MINUTE] as const;
/** Resolvers send each query three times while servers do not answer. */
const retried =
  (perSecond: number): Rate =>
  (second) =>
    second >= OUTAGE[0] && second < OUTAGE[1] ? 3 * perSecond : perSecond;

export const changes = [
  world('a zone that moves here without a seed', 'moved.test', {
    inventedKind: nxdomain,
    changes: [[MOVE, MOVE + 10 * MINUTE]],
    // In these minutes, the guard learns each name.
    flows: ordinary('moved.test', 1000, sinceMove(400)).map((part) => ({
      ...part,
      isExact: (second) => second >= MOVE && second < MOVE + 3 * MINUTE,
    })),
  }),
  world('a zone that moves here, with a seed', 'moved.test', {
    seeds: { 'moved.test': namesOf('moved.test', 1000) },
    inventedKind: nxdomain,
    changes: [[MOVE, MOVE + 10 * MINUTE]],
    flows: ordinary('moved.test', 1000, sinceMove(400)),
  }),
  world('parent and child zones', 'child.parent.test', {
    seeds: {
      'parent.test': [...namesOf('parent.test', 100), `${DELEGATION}child.parent.test`],
      'child.parent.test': namesOf('child.parent.test', 200),
    },
    known: [],
    inventedKind: nxdomain,
    flows: [...ordinary('parent.test', 100, () => 50), ...ordinary('child.parent.test', 200, () => 120)],
  }),
  world('resolvers that retry while servers fail', 'api.test', {
    seeds: { 'api.test': namesOf('api.test', 100) },
    known: [],
    inventedKind: nxdomain,
    changes: [[OUTAGE[0], OUTAGE[1] + MINUTE]],
    outage: OUTAGE,
    flows: ordinary('api.test', 100, retried(100)),
  }),
  world('resolvers that retry in a wildcard while servers fail', 'hooks.api.test', {
    seeds: { 'api.test': ['api.test', '*.hooks.api.test'] },
    known: [],
    inventedKind: records,
    changes: [[OUTAGE[0], OUTAGE[1] + MINUTE]],
    outage: OUTAGE,
    flows: [
      flow('hooks.api.test', retried(90), {
        names: zipf(500, (n) => `k${n}.hooks.api.test`),
        kind: records,
      }),
    ],
  }),
];
