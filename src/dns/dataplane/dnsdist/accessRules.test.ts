import { expect, it } from 'vitest';
import { parseNetwork } from '../../../platform/addresses/index.ts';
import { type Access, NO_LISTS } from '../../detector/index.ts';
import { accessRulesOf } from './accessRules.ts';

const entry = (text: string, access: Access) => ({ network: parseNetwork(text), access });

/** Returns the rules for networks, each as its name and the networks that it contains. */
const rulesOf = (...networks: ReturnType<typeof entry>[]): string[][] =>
  accessRulesOf({ ...NO_LISTS, networks }).map((text) =>
    text
      .split(' ')
      .map((word) => Buffer.from(word, 'hex').toString())
      .filter((word) => /^floodgate-(?!pays|refused)|^192/.test(word)),
  );

it('access lists become one rule for adjacent entries with the same access, the most specific entry first', () => {
  const [wide, one, other] = [
    entry('192.0.2.0/24', 'deny'),
    entry('192.0.2.1/32', 'allow'),
    entry('192.0.2.2/32', 'allow'),
  ];
  expect(rulesOf(wide, one, other)).toEqual([
    ['floodgate-allow', '192.0.2.1/32', '192.0.2.2/32'],
    ['floodgate-refuses', '192.0.2.0/24'],
    ['floodgate-deny', '192.0.2.0/24'],
  ]);
});
