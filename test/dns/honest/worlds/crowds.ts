/** Many users who ask for the same names, or for names of their own, at once. */
import { AnswerKind } from '../../../../src/dns/protocol/index.ts';
import { during, flow, HOUR, MINUTE, RESOLVERS, world } from '../flows.ts';
import { labelOf, newNames, zipf } from '../names.ts';

const { records } = AnswerKind;
const FROM = 4 * HOUR;
const TO = FROM + 15 * MINUTE;
const isLoud = (second: number): boolean => second >= FROM && second < TO;
const EVERYBODY = [...RESOLVERS, ...Array.from({ length: 200 }, (_, n) => `198.18.${n}.9`)];
const PUBLIC_RESOLVERS = ['198.51.100.8', '203.0.113.9'];

const namesOf = (zone: string, size: number): string[] => [
  zone,
  ...Array.from({ length: size }, (_, n) => `h${n}.${zone}`),
];

export const crowds = [
  world('a launch of a name that everybody asks for', 'brand.test', {
    seeds: { 'brand.test': namesOf('brand.test', 100) },
    known: [],
    inventedKind: AnswerKind.nxdomain,
    exception: 'launch',
    changes: [[FROM, TO]],
    flows: [
      flow('brand.test', 50, { names: zipf(100, (n) => `h${n}.brand.test`), kind: records }),
      flow('brand.test', (second) => (second < FROM ? 0 : isLoud(second) ? 400 : 20), {
        names: zipf(1, () => 'launch.brand.test'),
        kind: records,
        clients: EVERYBODY,
        isExact: isLoud,
      }),
    ],
  }),
  world('a crowd through two public resolvers', 'event.test', {
    seeds: { 'event.test': namesOf('event.test', 200) },
    known: [],
    inventedKind: AnswerKind.nxdomain,
    exception: 'crowd',
    changes: [[FROM, TO]],
    flows: [
      flow('event.test', 60, { names: zipf(200, (n) => `h${n}.event.test`), kind: records }),
      flow('event.test', (second) => (isLoud(second) ? 500 : 20), {
        names: zipf(200, (n) => `h${n}.event.test`),
        kind: records,
        clients: PUBLIC_RESOLVERS,
        isExact: isLoud,
      }),
    ],
  }),
  world('a crowd for new names under a wildcard', 'live.event.test', {
    seeds: { 'event.test': ['event.test', '*.live.event.test'] },
    known: [],
    inventedKind: records,
    exception: 'newNameCrowd',
    changes: [[FROM, TO]],
    flows: [
      flow('live.event.test', 60, { names: zipf(300, (n) => `s${n}.live.event.test`), kind: records }),
      flow('live.event.test', during(FROM, TO, 300), {
        names: newNames((n) => `${labelOf(n)}.live.event.test`),
        kind: records,
        clients: PUBLIC_RESOLVERS,
      }),
    ],
  }),
];
