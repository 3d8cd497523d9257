/** Blocklists and reverse zones: every name is new, and most do not exist. */
import { AnswerKind, QueryType } from '../../../../src/dns/protocol/index.ts';
import { flow, world } from '../flows.ts';
import { newNames, nibbles, reversed } from '../names.ts';

const { records, nxdomain } = AnswerKind;

interface List {
  readonly zone: string;
  readonly perSecond: number;
  /** Share of the queries that is answered with NXDOMAIN, in percent. */
  readonly percentNew: number;
  readonly type?: number;
  /** Returns a name below the zone, without its suffix. */
  readonly labels?: (number: number) => string;
}

function list(name: string, { zone, perSecond, percentNew, type = QueryType.A, labels = address }: List) {
  const part = (kind: number, percent: number, half: 0 | 1) =>
    flow(zone, (perSecond * percent) / 100, {
      names: newNames((n) => `${labels(2 * n + half)}.${zone}`),
      kind,
      type,
    });
  return world(name, zone, {
    inventedKind: nxdomain,
    isList: true,
    flows: [part(nxdomain, percentNew, 0), part(records, 100 - percentNew, 1)],
  });
}

const address = (number: number): string => reversed(number, 4);
const BLOCKLIST_PER_SECOND = 200;

export const lists = [
  ...[15, 50, 85, 95].map((percentNew) =>
    list(`a blocklist with ${percentNew} % NXDOMAIN`, {
      zone: 'bl.test',
      perSecond: BLOCKLIST_PER_SECOND,
      percentNew,
    }),
  ),
  list('a crawl of in-addr.arpa', {
    zone: '10.in-addr.arpa',
    perSecond: 150,
    percentNew: 65,
    type: QueryType.PTR,
    labels: (number) => reversed(number, 3),
  }),
  list('a crawl of ip6.arpa', {
    zone: '8.b.d.0.1.0.0.2.ip6.arpa',
    perSecond: 150,
    percentNew: 95,
    type: QueryType.PTR,
    labels: nibbles,
  }),
];
