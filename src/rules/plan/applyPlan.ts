import type { RulesClient } from '../client/index.ts';
import {
  MAX_RULES_PER_ACCOUNT,
  MAX_ZONE_POLICIES,
  type NewRule,
  type Rule,
  settingsOf,
  targetOf,
  type ZonePolicy,
  zonePolicyChanges,
} from '../index.ts';
import { createOnce } from './createOnce.ts';
import { existingRules, type Plan, type ZonePlan } from './makePlan.ts';

/** A rule or zone policy was changed after the plan was made. */
class PlanOutdated extends Error {
  constructor(item: Rule | ZonePolicy) {
    const name = 'zone' in item ? `zone ${item.zone}` : `${item.scope} ${item.name}`;
    super(`${name} (${item.id}) was changed since the plan was made; make a new plan`);
    this.name = 'PlanOutdated';
  }
}

export type Step =
  | { readonly kind: 'created'; readonly rule: NewRule; readonly messages: readonly string[] }
  | { readonly kind: 'changed' | 'deleted'; readonly rule: Rule }
  | { readonly kind: 'created' | 'changed' | 'deleted'; readonly zone: string };

export interface ApplyOptions {
  readonly onStep: (step: Step) => void;
  /** Stops the plan between two steps if it is aborted, and throws its reason. */
  readonly signal?: AbortSignal;
}

type Run = () => Promise<void>;

/**
 * Applies a plan. Throws `PlanOutdated` at the first item that was changed after the plan was made; completed steps
 * remain, and a new plan contains the others. Updates run first and deletions last, so that the account is never less
 * protected than before and after the plan. If it would exceed its limit of rules, deletions run before creations.
 *
 * Zone policies are changed and created before the rules, so that a new rule does not limit zones that are exempt.
 */
export async function applyPlan(client: RulesClient, plan: Plan, options: ApplyOptions): Promise<void> {
  const zones = plan.zones && zoneSteps(client, plan.zones, options);
  await zones?.prepare();
  for (const step of ruleSteps(client, plan, options)) await step();
  await zones?.finish();
}

function ruleSteps(client: RulesClient, plan: Plan, { onStep, signal }: ApplyOptions): Run[] {
  const update = async () => {
    for (const { item: rule, changes } of plan.updates) {
      signal?.throwIfAborted();
      const after = await client.rules.update(rule.id, changes, await tagOf(client, rule));
      if (Object.keys(client.format.changes(after, { ...rule, ...changes })).length > 0)
        throw new PlanOutdated(rule);
      onStep({ kind: 'changed', rule });
    }
  };
  const seen = existingRules(plan);
  const create = async () => {
    for (const rule of plan.creates) {
      signal?.throwIfAborted();
      const { messages } = await createOnce(client.rules, rule, seedOf(client, rule, seen));
      onStep({ kind: 'created', rule, messages });
    }
  };
  const remove = async () => {
    for (const rule of plan.deletes) {
      signal?.throwIfAborted();
      await client.rules.delete(rule.id, await tagOf(client, rule));
      onStep({ kind: 'deleted', rule });
    }
  };
  return exceeds(plan, MAX_RULES_PER_ACCOUNT) ? [update, remove, create] : [update, create, remove];
}

function zoneSteps(client: RulesClient, plan: ZonePlan, { onStep, signal }: ApplyOptions) {
  const update = async () => {
    for (const { item: policy, changes } of plan.updates) {
      signal?.throwIfAborted();
      const after = await client.zones.update(policy.id, changes, await zoneTagOf(client, policy));
      if (!hasSettings(after, { ...policy, ...changes })) throw new PlanOutdated(policy);
      onStep({ kind: 'changed', zone: policy.zone });
    }
  };
  const create = async () => {
    for (const policy of plan.creates) {
      signal?.throwIfAborted();
      await createOnce(client.zones, policy, [client.accountId, 'zone', settingsOf(policy)]);
      onStep({ kind: 'created', zone: policy.zone });
    }
  };
  const remove = async () => {
    for (const policy of plan.deletes) {
      signal?.throwIfAborted();
      await client.zones.delete(policy.id, await zoneTagOf(client, policy));
      onStep({ kind: 'deleted', zone: policy.zone });
    }
  };
  const isFull = exceeds(plan, MAX_ZONE_POLICIES);
  return {
    async prepare() {
      await update();
      if (isFull) await remove();
      await create();
    },
    async finish() {
      if (!isFull) await remove();
    },
  };
}

/**
 * Returns the content of a rule's retry key: the rule, and the current rules with its target. Rules with other targets
 * are not part of it and may change meanwhile.
 */
function seedOf({ accountId, format }: RulesClient, rule: NewRule, seen: readonly Rule[]): unknown {
  const competing = seen.filter((other) => targetOf(other) === targetOf(rule));
  const state = competing.map(({ id, modified_on }) => [id, modified_on]).sort();
  return [accountId, targetOf(rule), format.newRuleMembers.map((member) => rule[member]), state];
}

/** Returns whether the account would exceed its limit if the creations of a plan ran before its deletions. */
function exceeds({ unchanged, updates, creates, deletes }: Plan | ZonePlan, limit: number): boolean {
  return unchanged.length + updates.length + creates.length + deletes.length > limit;
}

/** Returns the ETag of a rule that is as in the plan. With it, the server rejects a change if the rule changed. */
async function tagOf(client: RulesClient, known: Rule): Promise<string | undefined> {
  const { item, etag } = await client.rules.get(known.id);
  if (!client.format.isSame(item, known)) throw new PlanOutdated(known);
  return etag;
}

async function zoneTagOf(client: RulesClient, known: ZonePolicy): Promise<string | undefined> {
  const { item, etag } = await client.zones.get(known.id);
  if (item.modified_on !== known.modified_on || !hasSettings(item, known)) throw new PlanOutdated(known);
  return etag;
}

const hasSettings = (policy: ZonePolicy, wanted: ZonePolicy): boolean =>
  Object.keys(zonePolicyChanges(policy, settingsOf(wanted))).length === 0;
