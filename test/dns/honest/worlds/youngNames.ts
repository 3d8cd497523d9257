/** Names that are minutes old, or that are asked for only once. */
import { AnswerKind, QueryType } from '../../../../src/dns/protocol/index.ts';
import { flow, HOUR, MINUTE, world } from '../flows.ts';
import { labelOf, newNames, shortLived, zipf } from '../names.ts';

const { records, nxdomain } = AnswerKind;
const CUSTOMERS = 300;
const customers = zipf(CUSTOMERS, (n) => `h${n}.hosting.test`);

export const youngNames = [
  world('ACME and DKIM names that are minutes old', 'hosting.test', {
    seeds: {
      'hosting.test': ['hosting.test', ...Array.from({ length: CUSTOMERS }, (_, n) => `h${n}.hosting.test`)],
    },
    known: [],
    inventedKind: nxdomain,
    flows: [
      flow('hosting.test', 50, { names: customers, kind: records }),
      flow('hosting.test', 4, {
        names: shortLived(
          { everySeconds: 2, lifeSeconds: 3 * MINUTE },
          (n) => `_acme-challenge.c${n}.hosting.test`,
        ),
        kind: records,
        type: QueryType.TXT,
      }),
      flow('hosting.test', 6, {
        names: shortLived({ everySeconds: 20, lifeSeconds: HOUR }, (n) => `s${n}._domainkey.hosting.test`),
        kind: records,
        type: QueryType.TXT,
      }),
    ],
  }),
  world('probes of a monitoring service', 'probed.test', {
    seeds: { 'probed.test': ['probed.test', 'www.probed.test'] },
    known: [],
    inventedKind: nxdomain,
    flows: [
      flow('probed.test', 2, { names: zipf(1, () => 'www.probed.test'), kind: records }),
      flow('probed.test', 6, { names: newNames((n) => `probe-${labelOf(n)}.probed.test`), kind: nxdomain }),
    ],
  }),
];
