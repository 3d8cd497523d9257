import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkNewRule, checkRulePatch } from './checkRule.ts';
import { InvalidRule } from './invalidRule.ts';
import { newRuleArbitrary, storedRulesArbitrary } from './rule.arbitrary.ts';
import type { Rule } from './rule.ts';

const aRule: fc.Arbitrary<Rule> = storedRulesArbitrary
  .filter((rules) => rules.length > 0)
  .map((rules) => rules[0] as Rule); // filtered to have one

describe('a body', () => {
  it('of any rule is taken as it is', () => {
    fc.assert(
      fc.property(newRuleArbitrary, (rule) => {
        expect(checkNewRule({ ...rule })).toEqual(rule);
      }),
    );
  });

  it('of any JSON is taken or refused with faults, and nothing else happens', () => {
    fc.assert(
      fc.property(
        aRule,
        fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue())),
        (rule, body) => {
          for (const check of [() => checkNewRule(body), () => checkRulePatch(rule, body)])
            try {
              check();
            } catch (error) {
              expect(error).toBeInstanceOf(InvalidRule);
              expect((error as InvalidRule).faults.length).toBeGreaterThan(0);
            }
        },
      ),
    );
  });

  it('with one wrong member has one fault, which points at it', () => {
    const wrong = fc.oneof(
      fc.integer(),
      fc.constant(null),
      fc.constant([]),
      fc.constant({}),
      fc.constant(''),
    );
    fc.assert(
      fc.property(newRuleArbitrary, fc.nat(5), wrong, (rule, index, value) => {
        const member = Object.keys(rule)[index] ?? '';
        expect(faultsOf(() => checkNewRule({ ...rule, [member]: value }))).toMatchObject([
          { pointer: `/${member}` },
        ]);
      }),
    );
  });

  it('nested without end is described, not walked into', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 200_000; depth++) deep = depth % 2 === 0 ? [deep] : { deep };
    expect(faultsOf(() => checkNewRule({ mode: deep }))).toHaveLength(6);
  });
});

describe('a change', () => {
  it('holds what differs from the stored rule, and only that', () => {
    fc.assert(
      fc.property(aRule, newRuleArbitrary, (rule, { scope: _, name: __, ...settings }) => {
        const changes = checkRulePatch(rule, settings);
        expect({ ...rule, ...changes }).toEqual({ ...rule, ...settings });
        for (const [member, value] of Object.entries(changes)) expect(rule).not.toHaveProperty(member, value);
      }),
    );
  });

  it('takes the whole rule back', () => {
    fc.assert(
      fc.property(aRule, (rule) => {
        expect(checkRulePatch(rule, { ...rule })).toEqual({});
      }),
    );
  });
});

function faultsOf(check: () => void) {
  try {
    check();
  } catch (error) {
    if (error instanceof InvalidRule) return error.faults;
    throw error;
  }
  return [];
}
