import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effectiveRule } from './effectiveRule.ts';
import { storedRulesArbitrary } from './rule.arbitrary.ts';
import type { Rule } from './rule.ts';

const place = fc.record({
  datacenter: fc.constantFrom('lax', 'Lax', 'mrs', undefined),
  region: fc.constantFrom('WEUR', 'wEur', 'enam', undefined),
});

describe('the rule in force', () => {
  it('is the rule modified last of the most specific scope that matches the location', () => {
    fc.assert(
      fc.property(storedRulesArbitrary, place, (rules, where) => {
        const matching = (scope: string) =>
          rules.filter((rule) => {
            if (rule.scope !== scope) return false;
            if (scope === 'global') return true;
            const name = scope === 'region' ? where.region : where.datacenter;
            return name !== undefined && rule.name.toLowerCase() === name.toLowerCase();
          });
        const candidates = [matching('datacenter'), matching('region'), matching('global')];
        const decisive = candidates.find((group) => group.length > 0) ?? [];
        const expected = decisive.toSorted((a, b) => (a.modified_on < b.modified_on ? 1 : -1))[0];
        expect(effectiveRule(rules, where)).toBe(expected);
      }),
    );
  });

  it('can be a disabled rule, which exempts its location', () => {
    const rule = (fields: Partial<Rule>) => ({
      scope: 'global',
      name: 'x',
      mode: 'enabled',
      modified_on: '1',
      ...fields,
    });
    const rules = [rule({}), rule({ scope: 'datacenter', name: 'LAX', mode: 'disabled' })] as Rule[];
    expect(effectiveRule(rules, { datacenter: 'lax' })?.mode).toBe('disabled');
    expect(effectiveRule(rules, { datacenter: 'mrs' })?.mode).toBe('enabled');
    expect(effectiveRule([], {})).toBeUndefined();
  });
});
