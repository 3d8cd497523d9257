import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewRule, Rule } from '../index.ts';
import { newRuleArbitrary, storedRulesArbitrary } from '../rule.arbitrary.ts';
import { isEmpty, makePlan, type Plan, planFingerprint, riskOf } from './makePlan.ts';

const wantedArbitrary = fc.array(newRuleArbitrary, { maxLength: 20 });

const subject = { baseUrl: 'http://server/client/v4', accountId: 'a' };
const fingerprint = (plan: Plan) => planFingerprint(plan, subject);

/** Sorted texts of the compared members of rules; names of regions and datacenters in lower case. */
function essence(rules: readonly NewRule[]): string[] {
  return rules
    .map(({ scope, name, mode, profile_sensitivity, rate_sensitivity, burst_sensitivity }) =>
      [
        ...[scope, scope === 'global' ? name : name.toLowerCase(), mode],
        ...[profile_sensitivity, rate_sensitivity, burst_sensitivity],
      ].join(),
    )
    .sort();
}

function applied(plan: Plan): NewRule[] {
  const updated = plan.updates.map(({ rule, changes }): Rule => ({ ...rule, ...changes }));
  return [...plan.unchanged, ...updated, ...plan.creates];
}

describe('a plan', () => {
  it('results in exactly the wanted rules', () => {
    fc.assert(
      fc.property(storedRulesArbitrary, wantedArbitrary, (current, wanted) => {
        expect(essence(applied(makePlan(current, wanted)))).toEqual(essence(wanted));
      }),
    );
  });

  it('covers every current rule exactly once', () => {
    fc.assert(
      fc.property(storedRulesArbitrary, wantedArbitrary, (current, wanted) => {
        const { updates, deletes, unchanged } = makePlan(current, wanted);
        const reported = [...updates.map(({ rule }) => rule), ...deletes, ...unchanged].map(({ id }) => id);
        expect(reported.sort()).toEqual(current.map(({ id }) => id).sort());
      }),
    );
  });

  it('is empty if the wanted rules equal the current ones, in any order', () => {
    fc.assert(
      fc.property(
        storedRulesArbitrary.chain((rules) =>
          fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length })),
        ),
        ([current, shuffled]) => {
          expect(isEmpty(makePlan(current, shuffled))).toBe(true);
        },
      ),
    );
  });

  it('changes only settings that differ', () => {
    fc.assert(
      fc.property(storedRulesArbitrary, wantedArbitrary, (current, wanted) => {
        for (const { rule, changes } of makePlan(current, wanted).updates) {
          expect(Object.keys(changes).length).toBeGreaterThan(0);
          for (const [member, value] of Object.entries(changes))
            expect(rule).not.toHaveProperty(member, value);
        }
      }),
    );
  });

  it('has a fingerprint that depends on the state of the changed and deleted rules', () => {
    fc.assert(
      fc.property(storedRulesArbitrary, wantedArbitrary, (current, wanted) => {
        const plan = makePlan(current, wanted);
        expect(fingerprint(makePlan(current, wanted))).toBe(fingerprint(plan));
        const later = current.map((rule) => ({ ...rule, modified_on: `${rule.modified_on}later` }));
        const same = plan.updates.length + plan.deletes.length === 0;
        expect(fingerprint(makePlan(later, wanted)) === fingerprint(plan)).toBe(same);
      }),
    );
  });

  it('has a different fingerprint for another account or server', () => {
    const plan = makePlan([], []);
    const others = [
      { ...subject, accountId: 'b' },
      { ...subject, baseUrl: 'http://other/client/v4' },
    ];
    for (const other of others) expect(planFingerprint(plan, other)).not.toBe(fingerprint(plan));
  });

  it.each([
    [0, 0, undefined],
    [1, 0, undefined],
    [1, 1, 'every rule'],
    [9, 8, undefined],
    [9, 9, 'every rule'],
    [10, 3, undefined],
    [10, 4, 'more than a third'],
    [12, 4, undefined],
    [12, 5, 'more than a third'],
    [12, 12, 'every rule'],
  ])('for %i rules that deletes %i has the risk %j', (all, deleted, risk) => {
    const rules = Array.from({ length: all }, (_, index) => ({ id: String(index) }) as Rule);
    const plan = {
      creates: [],
      updates: [],
      deletes: rules.slice(0, deleted),
      unchanged: rules.slice(deleted),
    };
    if (risk === undefined) expect(riskOf(plan)).toBeUndefined();
    else expect(riskOf(plan)).toContain(risk);
  });
});
