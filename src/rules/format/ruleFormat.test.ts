import fc from 'fast-check';
import { Errors } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { InvalidRule } from '../invalidRule.ts';
import { newRuleArbitrary, storedRulesArbitrary } from '../rule.arbitrary.ts';
import type { Rule } from '../rule.ts';
import { ruleFormat } from './ruleFormat.ts';
import { namePattern } from './ruleName.ts';

const aRule: fc.Arbitrary<Rule> = storedRulesArbitrary
  .filter((rules) => rules.length > 0)
  .map((rules) => rules[0] as Rule); // filtered to have one

/** Returns the result of a check, or its error with faults. */
function outcomeOf<T>(check: () => T): T | InvalidRule {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof InvalidRule)) throw error;
    expect(error.faults.length).toBeGreaterThan(0);
    for (const { message } of error.faults) expect(message).not.toBe('');
    return error;
  }
}

describe('a request body', () => {
  it('with any valid rule is accepted unchanged', () => {
    fc.assert(
      fc.property(newRuleArbitrary, (rule) => {
        expect(ruleFormat.checkNewRule({ ...rule })).toEqual(rule);
      }),
    );
  });

  it('with any JSON is accepted as a valid rule or change, or rejected with faults', () => {
    const anyMember = fc.tuple(
      newRuleArbitrary,
      fc.constantFrom(...ruleFormat.newRuleMembers),
      fc.jsonValue(),
    );
    const nearlyValid = anyMember.map(([rule, member, value]): unknown => ({ ...rule, [member]: value }));
    const bodies = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.string(), fc.jsonValue()),
      newRuleArbitrary,
      nearlyValid,
    );
    fc.assert(
      fc.property(aRule, bodies, (rule, body) => {
        const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
        const created = outcomeOf(() => ruleFormat.checkNewRule(body));
        if (!isObject || Object.keys(body).length === 0) expect(created).toBeInstanceOf(InvalidRule);
        if (!(created instanceof InvalidRule)) {
          expect([...Errors(ruleFormat.schemas.newRule, created)]).toEqual([]);
          expect(ruleFormat.checkNewRule(created)).toEqual(created);
        }
        const changes = outcomeOf(() => ruleFormat.checkRulePatch(rule, body));
        if (!isObject) expect(changes).toBeInstanceOf(InvalidRule);
        if (!(changes instanceof InvalidRule))
          expect([...Errors(ruleFormat.schemas.rule, { ...rule, ...changes })]).toEqual([]);
      }),
    );
  });

  it('with one invalid member is rejected with one fault, which names that member', () => {
    const members = fc.constantFrom(...ruleFormat.newRuleMembers);
    fc.assert(
      fc.property(aRule, members, fc.constantFrom(null, {}, [], -1, '\u0007'), (rule, member, value) => {
        const { id, created_on, modified_on, ...fields } = rule;
        for (const check of [
          () => ruleFormat.checkNewRule({ ...fields, [member]: value }),
          () => ruleFormat.checkRulePatch(rule, { [member]: value }),
        ]) {
          const rejected = outcomeOf<unknown>(check);
          if (!(rejected instanceof InvalidRule))
            throw new Error(`accepted ${member} ${JSON.stringify(value)}`);
          expect(rejected.faults).toEqual([
            { pointer: `/${member}`, message: expect.stringMatching(new RegExp(`^${member} `)) },
          ]);
        }
      }),
    );
  });

  it('cannot contain a name with an invisible character', () => {
    // These format characters are drawn around the characters that follow them.
    const drawn = /[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u;
    const nothing =
      /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u2800\u{16fe4}\u{1d159}]/u;
    const name = new RegExp(namePattern, 'u');
    const taken: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      if (nothing.test(character) && !drawn.test(character) && name.test(`a${character}b`))
        taken.push(code.toString(16));
    }
    expect(taken).toEqual([]);
    for (const visible of ['ōsaka 🌊', '東京', 'Zürich-1', 'a\u3000b', '\u{16fe3}'])
      expect(visible).toMatch(name);
  });

  it('for a region or datacenter has a name of visible ASCII, unlike a global rule', () => {
    fc.assert(
      fc.property(newRuleArbitrary, fc.string({ unit: 'grapheme', maxLength: 70 }), (rule, name) => {
        const faultsIn = (scope: string) =>
          faultsOf(() => ruleFormat.checkNewRule({ ...rule, scope, name })).map(({ pointer }) => pointer);
        const isGlobalName = new RegExp(namePattern, 'u').test(name) && !/\p{Surrogate}/u.test(name);
        expect(faultsIn('global')).toEqual(isGlobalName ? [] : ['/name']);
        const isLocation = /^[\x21-\x7e]{1,64}$/.test(name.trim());
        for (const scope of ['region', 'datacenter'])
          expect(faultsIn(scope)).toEqual(isLocation ? [] : ['/name']);
      }),
    );
    const both = faultsOf(() => ruleFormat.checkNewRule({ scope: 'region', name: 'Zürich', mode: 'on' }));
    expect(both.map(({ pointer }) => pointer)).toEqual([
      '/mode',
      ...ruleFormat.fields
        .filter(({ member, isOptional }) => !isOptional && member.endsWith('sensitivity'))
        .map(({ member }) => `/${member}`),
      '/name',
    ]);
  });

  it('with one invalid member has one fault, which points to it', () => {
    const wrong = fc.oneof(
      fc.integer(),
      fc.constant(null),
      fc.constant([]),
      fc.constant({}),
      fc.constant(''),
    );
    fc.assert(
      fc.property(newRuleArbitrary, fc.constantFrom(...ruleFormat.fields), wrong, (rule, field, value) => {
        const { member, schema } = field;
        fc.pre(typeof value !== 'number' || schema.type === 'string');
        expect(faultsOf(() => ruleFormat.checkNewRule({ ...rule, [member]: value }))).toMatchObject([
          { pointer: `/${member}` },
        ]);
      }),
    );
  });

  it('with very deep nesting is described without recursion', () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 200_000; depth++) deep = depth % 2 === 0 ? [deep] : { deep };
    expect(faultsOf(() => ruleFormat.checkNewRule({ mode: deep }))).toHaveLength(
      ruleFormat.fields.filter(({ isOptional, member }) => !isOptional || member === 'mode').length,
    );
  });
});

describe('a patch', () => {
  it('results in exactly the settings that differ from the stored rule', () => {
    fc.assert(
      fc.property(aRule, newRuleArbitrary, (rule, { scope: _, name: __, ...settings }) => {
        const changes = ruleFormat.checkRulePatch(rule, settings);
        expect({ ...rule, ...changes }).toEqual({ ...rule, ...settings });
        for (const [member, value] of Object.entries(changes)) expect(rule).not.toHaveProperty(member, value);
      }),
    );
  });

  it('accepts the whole stored rule and changes nothing', () => {
    fc.assert(
      fc.property(aRule, (rule) => {
        expect(ruleFormat.checkRulePatch(rule, { ...rule })).toEqual({});
      }),
    );
  });
});

it('a rule stored by the first release is still valid, because later fields have a default', () => {
  const stored = {
    id: '31c70c65-9f81-4669-94ed-1e1e041e7b06',
    scope: 'region',
    name: 'WEUR',
    mode: 'enabled',
    profile_sensitivity: 'very_high',
    rate_sensitivity: 'low',
    burst_sensitivity: 'medium',
    created_on: '2026-11-20T22:10:38.762503+00:00',
    modified_on: '2026-11-20T22:10:38.762503+00:00',
  } as Rule; // of a release that may know fewer fields
  const rule = ruleFormat.withDefaults(stored);
  expect(Object.keys(ruleFormat.orderMembers(rule))).toEqual(ruleFormat.members);
  expect([...Errors(ruleFormat.schemas.rule, rule)]).toEqual([]);
});

it('inOrder sorts the members of a rule and drops unknown ones', () => {
  fc.assert(
    fc.property(
      aRule.chain((rule) =>
        fc.tuple(fc.constant(rule), fc.shuffledSubarray(Object.entries({ ...rule, more: 1 }))),
      ),
      ([rule, entries]) => {
        const shuffled = Object.fromEntries([...entries, ...Object.entries(rule)]) as unknown as Rule; // with all members
        expect(JSON.stringify(ruleFormat.orderMembers(shuffled))).toBe(
          JSON.stringify(Object.fromEntries(ruleFormat.members.map((member) => [member, rule[member]]))),
        );
      },
    ),
  );
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
