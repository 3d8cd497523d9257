import fc from 'fast-check';
import { expect, it } from 'vitest';
import { effectiveRule } from './effectiveRule.ts';
import type { ProtectionRule } from './ports.ts';

const PLACE = { region: 'WEUR', datacenter: 'ams' };
let made = 0;
const rule = (scope: ProtectionRule['scope'], name: string, second: number): ProtectionRule => ({
  id: `rule-${made++}`,
  scope,
  name,
  mode: 'enabled',
  profile_sensitivity: 'low',
  rate_sensitivity: 'medium',
  burst_sensitivity: 'medium',
  modified_on: `2026-11-20T10:00:${String(second).padStart(2, '0')}.000000+00:00`,
});

it('is the most specific that names the place, the last modified among equals, or none', () => {
  const global = rule('global', 'global', 50);
  const older = rule('region', 'weur', 1);
  const newer = rule('region', 'WEUR', 2);
  const datacenter = rule('datacenter', 'AMS', 0);
  const elsewhere = rule('datacenter', 'lax', 59);
  expect(effectiveRule([], PLACE)).toBeUndefined();
  expect(effectiveRule([elsewhere], PLACE)).toBeUndefined();
  expect(effectiveRule([global, elsewhere], PLACE)).toBe(global);
  expect(effectiveRule([newer, older, global], PLACE)).toBe(newer);
  expect(effectiveRule([global, newer, datacenter], PLACE)).toBe(datacenter);
  expect(effectiveRule([global, newer, datacenter], {})).toBe(global);
});

it('does not depend on the order of the list', () => {
  const some = fc
    .tuple(fc.constantFrom('global', 'region', 'datacenter'), fc.constantFrom('weur', 'ams'), fc.nat(2))
    .map(([scope, name, second]) => rule(scope, name, second));
  fc.assert(
    fc.property(
      fc
        .array(some, { maxLength: 8 })
        .chain((rules) =>
          fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
        ),
      ([rules, shuffled]) => {
        expect(effectiveRule(shuffled, PLACE)).toBe(effectiveRule(rules, PLACE));
      },
    ),
  );
});
