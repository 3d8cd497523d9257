import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NewRule, Rule, ZonePolicy } from '../index.ts';
import { newRuleArbitrary, storedRulesArbitrary } from '../rule.arbitrary.ts';
import { newZonePolicyArbitrary } from '../zonePolicy.arbitrary.ts';
import {
  countChanges,
  isEmpty,
  makePlan,
  makeZonePlan,
  type Plan,
  planFingerprint,
  riskOf,
} from './makePlan.ts';

const wantedArbitrary = fc.array(newRuleArbitrary, { maxLength: 20 });

const subject = { baseUrl: 'http://server/client/v4', accountId: 'a' };
const fingerprint = (plan: Plan) => planFingerprint(plan, subject);

/** Sorted texts of the compared members of rules; names of regions and datacenters in lower case. */
function essence(rules: readonly NewRule[]): string[] {
  return rules
    .map(({ scope, name, mode, profile_sensitivity, rate_sensitivity, burst_sensitivity }) =>
      [
        scope,
        scope === 'global' ? name : name.toLowerCase(),
        mode,
        profile_sensitivity,
        rate_sensitivity,
        burst_sensitivity,
      ].join(),
    )
    .sort();
}

function applied(plan: Plan): NewRule[] {
  const updated = plan.updates.map(({ item, changes }): Rule => ({ ...item, ...changes }));
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
        const reported = [...updates.map(({ item }) => item), ...deletes, ...unchanged].map(({ id }) => id);
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
        for (const { item: rule, changes } of makePlan(current, wanted).updates) {
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

describe('a plan for zone policies', () => {
  const wantedZones = fc.uniqueArray(newZonePolicyArbitrary, { selector: ({ zone }) => zone });
  const storedZones = wantedZones.map((policies) =>
    policies.map((settings, index): ZonePolicy => {
      return { ...settings, id: String(index), created_on: '', modified_on: String(index) };
    }),
  );
  const empty: Plan = { creates: [], updates: [], deletes: [], unchanged: [] };

  it('results in exactly the wanted policies, and covers every current policy once', () => {
    fc.assert(
      fc.property(storedZones, wantedZones, (current, wanted) => {
        const { creates, updates, deletes, unchanged } = makeZonePlan(current, wanted);
        const updated = updates.map(({ item, changes }) => ({ ...item, ...changes }));
        const result = [...unchanged, ...updated, ...creates].map((policy) => {
          const { zone, mode, judge_by, rate, burst, comment } = policy;
          return [zone, mode, judge_by, rate, burst, comment];
        });
        const expected = wanted.map(({ zone, mode, judge_by, rate, burst, comment }) => [
          zone,
          mode,
          judge_by,
          rate,
          burst,
          comment,
        ]);
        expect(result.sort()).toEqual(expected.sort());
        const covered = [...updates.map(({ item }) => item), ...deletes, ...unchanged];
        expect(covered.map(({ id }) => id).sort()).toEqual(current.map(({ id }) => id).sort());
        for (const { changes } of updates) expect(Object.keys(changes).length).toBeGreaterThan(0);
      }),
    );
  });

  it('is part of the fingerprint, the number of changes and the risk of a plan', () => {
    const policy = (zone: string): ZonePolicy => ({
      id: zone,
      zone,
      mode: 'inherit',
      judge_by: 'auto',
      rate: null,
      burst: null,
      unknown_per_second: null,
      profile_sensitivity: null,
      rate_sensitivity: null,
      burst_sensitivity: null,
      only_when_upstream_unhealthy: false,
      comment: '',
      created_on: '',
      modified_on: '1',
    });
    const plan = { ...empty, zones: makeZonePlan([policy('a'), policy('b')], []) };
    expect([countChanges(plan), isEmpty(plan), isEmpty(empty)]).toEqual([2, false, true]);
    expect(fingerprint(plan)).not.toBe(fingerprint(empty));
    const later = { ...empty, zones: makeZonePlan([{ ...policy('a'), modified_on: '2' }, policy('b')], []) };
    expect(fingerprint(later)).not.toBe(fingerprint(plan));
    expect(riskOf(plan)).toBe('deletes every zone policy of the account');
    const many = Array.from({ length: 10 }, (_, index) => policy(String(index)));
    expect(riskOf({ ...empty, zones: makeZonePlan(many, many.slice(4)) })).toBe(
      'changes or deletes more than a third of the zone policies',
    );
    expect(riskOf({ ...empty, zones: makeZonePlan(many, many.slice(3)) })).toBeUndefined();
  });
});
