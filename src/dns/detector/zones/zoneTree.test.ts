import { expect, it } from 'vitest';
import { MAX_ZONE_POLICIES } from '../../../rules/index.ts';
import { AttackDetector } from '../attackDetector.ts';
import { MAX_ZONES } from './zoneIndex.ts';

it('zones with a policy have room that other zones do not use, and both together fill the tree', () => {
  const { zones } = new AttackDetector({ high: 1, low: 2 }, { profile: { maxNames: 1_000 } }, 0);
  const added = (add: (name: string) => unknown, name: string, count: number): number =>
    Array.from({ length: count }, (_, i) => add(`${name}${i}.test`)).filter((zone) => zone !== undefined)
      .length;
  expect(added((name) => zones.addReserved(name), 'policy', 10)).toBe(10);
  expect(added((name) => zones.add(name), 'zone', MAX_ZONES)).toBe(MAX_ZONES - MAX_ZONE_POLICIES);
  expect(added((name) => zones.addReserved(name), 'more', MAX_ZONE_POLICIES)).toBe(MAX_ZONE_POLICIES - 10);
  expect(zones.add('zone0.test')).toBe(zones.get('zone0.test'));
});
