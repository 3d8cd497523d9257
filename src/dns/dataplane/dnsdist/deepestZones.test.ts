import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DnsdistRules } from '../../../../test/dns/support/dnsdistRules.ts';
import { DeepestZones } from './deepestZones.ts';
import { rule, rulesText, setTag } from './ruleData.ts';

/** Returns whether the rules with this selector match a query for `name`. */
function matches(selector: string, name: string): boolean {
  const rules = new DnsdistRules();
  rules.install(rulesText([], [rule('rule', setTag('floodgate-refused', 'dropped'), selector)]));
  const query = { name, type: 1, client: '192.0.2.1', count: 1 };
  const files = { knownTypes: undefined, isLearned: false, isKnownNetwork: false };
  return rules.decide([{ ...query, ...files }], { startMs: 0, seconds: 1 })[0]?.dropped === 1;
}

const labels = fc.array(fc.constantFrom('a', 'b'), { maxLength: 5 });

it('queries are selected by the deepest zone of their name', () => {
  const zones = fc.array(fc.record({ zone: labels.map((all) => all.join('.')), isWanted: fc.boolean() }), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(zones, labels, (all, name) => {
      const isWanted = new Map([['', false], ...all.map(({ zone, isWanted }) => [zone, isWanted] as const)]);
      const wanted = [...isWanted.keys()].filter((zone) => isWanted.get(zone));
      const suffixes = name.map((_, n) => name.slice(n).join('.'));
      const deepest = [...suffixes, ''].find((suffix) => isWanted.has(suffix)) ?? '';
      const selector = new DeepestZones([...isWanted.keys()]).among(wanted);
      expect(matches(selector, name.join('.'))).toBe(isWanted.get(deepest));
    }),
    { numRuns: 2000 },
  );
});

it('zones that contain no other zone are selected as one list', () => {
  const zones = new DeepestZones(['a.test', 'b.test', 'sub.b.test']);
  const hex = (text: string) => Buffer.from(text).toString('hex');
  expect(zones.among(['a.test'])).toBe(`zones 1 ${hex('a.test')}`);
  expect(zones.among(['b.test', 'sub.b.test'])).toBe(`zones 1 ${hex('b.test')}`);
});
