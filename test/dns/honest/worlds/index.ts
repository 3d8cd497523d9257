/** All honest worlds. Each also has the zone of another customer (OTHER_ZONE). */
import { AnswerKind } from '../../../../src/dns/protocol/index.ts';
import { OTHER_ZONE } from '../attacks.ts';
import { flow, type World } from '../flows.ts';
import { labelOf, newNames, zipf } from '../names.ts';
import { changes } from './changes.ts';
import { crowds } from './crowds.ts';
import { lists } from './lists.ts';
import { wildcards } from './wildcards.ts';
import { youngNames } from './youngNames.ts';

const OTHER_NAMES = 150;
const nameOf = (n: number): string => `h${n}.${OTHER_ZONE}`;

const withOtherZone = (world: World): World => ({
  ...world,
  seeds: {
    ...world.seeds,
    [OTHER_ZONE]: [OTHER_ZONE, ...Array.from({ length: OTHER_NAMES }, (_, n) => nameOf(n))],
  },
  flows: [
    ...world.flows,
    flow(OTHER_ZONE, 40, { names: zipf(OTHER_NAMES, nameOf), kind: AnswerKind.records }),
    flow(OTHER_ZONE, 1, {
      names: newNames((n) => `typo-${labelOf(n)}.${OTHER_ZONE}`),
      kind: AnswerKind.nxdomain,
    }),
  ],
});

export const worlds: readonly World[] = [...wildcards, ...lists, ...crowds, ...youngNames, ...changes].map(
  withOtherZone,
);
