/** Zones in which every name exists. */
import { AnswerKind } from '../../../../src/dns/protocol/index.ts';
import { dayAndNight, flow, world } from '../flows.ts';
import { labelOf, newNames, zipf } from '../names.ts';

const { records, nxdomain } = AnswerKind;

const tenants = (name: string, size: number, perSecond: number) => {
  const zone = 'tenants.app.test';
  return world(name, zone, {
    seeds: { 'app.test': ['app.test', 'www.app.test', `*.${zone}`] },
    known: [],
    inventedKind: records,
    flows: [flow(zone, perSecond, { names: zipf(size, (n) => `t${n}.${zone}`), kind: records })],
  });
};

export const wildcards = [
  tenants('500 tenants under a wildcard', 500, 250),
  tenants('5,000 tenants under a wildcard', 5000, 150),
  tenants('100,000 tenants under a wildcard', 100_000, 400),
  world('a wildcard at the apex', 'apex.test', {
    seeds: { 'apex.test': ['apex.test', 'www.apex.test', '*.apex.test'] },
    known: [],
    inventedKind: records,
    flows: [flow('apex.test', 200, { names: zipf(2000, (n) => `c${n}.apex.test`), kind: records })],
  }),
  world('tenants by day and night', 'tenants.day.test', {
    seeds: { 'day.test': ['day.test', '*.tenants.day.test'] },
    known: [],
    inventedKind: records,
    flows: [
      flow('tenants.day.test', dayAndNight(400), {
        names: zipf(2000, (n) => `t${n}.tenants.day.test`),
        kind: records,
      }),
    ],
  }),
  world('labels against caches under a seeded wildcard', 'bust.cdn.test', {
    seeds: { 'cdn.test': ['cdn.test', '*.bust.cdn.test'] },
    known: [],
    inventedKind: records,
    flows: [
      flow('bust.cdn.test', 120, { names: newNames((n) => `${labelOf(n)}.bust.cdn.test`), kind: records }),
    ],
  }),
  world('labels against caches in a zone without a seed', 'pixel.test', {
    inventedKind: records,
    flows: [
      flow('pixel.test', 120, { names: newNames((n) => `${labelOf(n)}.pixel.test`), kind: records }),
      flow('pixel.test', 20, { names: zipf(50, (n) => `h${n}.pixel.test`), kind: records }),
      flow('pixel.test', 2, { names: newNames((n) => `typo-${labelOf(n)}.x.pixel.test`), kind: nxdomain }),
    ],
  }),
];
