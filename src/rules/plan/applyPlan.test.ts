import { expect, it } from 'vitest';
import { zonePolicy } from '../../../test/dns/support/zonePolicy.ts';
import type { RulesClient } from '../client/index.ts';
import { exampleRule, type Rule, ruleFormat, settingsOf } from '../index.ts';
import { applyPlan, type Step } from './applyPlan.ts';
import { makePlan, makeZonePlan } from './makePlan.ts';

const at = '2026-11-20T10:00:00.000000+00:00';
const ruleAt = (name: string): Rule => ({
  id: `id-${name}`,
  ...exampleRule,
  scope: 'region',
  name,
  created_on: at,
  modified_on: at,
});
const policyOf = (zone: string) => zonePolicy({ zone, id: `id-${zone}` });

const rules = ['a', 'b', 'c', 'd'].map(ruleAt);
const policies = ['a.test', 'b.test', 'c.test', 'd.test'].map(policyOf);
/** Two updates, two creations and two deletions, of rules and of zone policies. */
const PLAN = {
  ...makePlan(
    rules,
    ['a', 'b', 'e', 'f'].map((name) => ({ ...exampleRule, scope: 'region', name, mode: 'disabled' })),
  ),
  zones: makeZonePlan(
    policies,
    ['a.test', 'b.test', 'e.test', 'f.test'].map((zone) => ({ ...settingsOf(policyOf(zone)), rate: 7 })),
  ),
};
const STEPS = 12;

/** A server that has the rules and policies of which the plan was made. */
function collectionOf<Item extends { readonly id: string }>(items: readonly Item[]) {
  const itemOf = (id: string) => items.find((item) => item.id === id);
  return {
    get: async (id: string) => ({ item: itemOf(id), etag: 'tag' }),
    update: async (id: string, changes: object) => ({ ...itemOf(id), ...changes }),
    create: async (item: object) => ({ item, messages: [], replayed: false }),
    delete: async () => undefined,
  };
}

async function apply(abortAfter: number): Promise<{ steps: string[]; failure: unknown }> {
  const client = {
    accountId: 'a',
    format: ruleFormat,
    rules: collectionOf(rules),
    zones: collectionOf(policies),
  } as unknown as RulesClient; // the members that are used
  const stop = new AbortController();
  const steps: string[] = [];
  const onStep = (step: Step) => {
    steps.push(`${step.kind} ${'zone' in step ? step.zone : step.rule.name}`);
    if (steps.length === abortAfter) stop.abort(new Error('stopped'));
  };
  const failure = await applyPlan(client, PLAN, { onStep, signal: stop.signal }).catch((error) => error);
  return { steps, failure };
}

it('a plan changes and creates before it deletes, and zone policies before rules', async () => {
  const { steps, failure } = await apply(STEPS + 1);
  expect(failure).toBeUndefined();
  expect(steps).toEqual([
    'changed a.test',
    'changed b.test',
    'created e.test',
    'created f.test',
    'changed a',
    'changed b',
    'created e',
    'created f',
    'deleted c',
    'deleted d',
    'deleted c.test',
    'deleted d.test',
  ]);
});

it('a plan that is stopped makes no further step, whatever the step', async () => {
  for (let count = 1; count < STEPS; count++) {
    const { steps, failure } = await apply(count);
    expect(steps).toHaveLength(count);
    expect(failure).toEqual(new Error('stopped'));
  }
});
