import type { RulesClient } from '../client/index.ts';
import { MAX_RULES_PER_ACCOUNT, type NewRule, type Rule } from '../index.ts';
import { createOnce } from './createOnce.ts';
import { existingRules, type Plan } from './makePlan.ts';

/** A rule was changed after the plan was made. */
class PlanOutdated extends Error {
  constructor(rule: Rule) {
    super(`${rule.scope} ${rule.name} (${rule.id}) was changed since the plan was made; make a new plan`);
    this.name = 'PlanOutdated';
  }
}

export type Step =
  | { readonly kind: 'created'; readonly rule: NewRule; readonly messages: readonly string[] }
  | { readonly kind: 'changed' | 'deleted'; readonly rule: Rule };

export interface ApplyOptions {
  readonly onStep: (step: Step) => void;
  /** Stops the plan between two steps if it is aborted, and throws its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Applies a plan. Throws `PlanOutdated` at the first rule that was changed after the plan was made; completed steps
 * remain, and a new plan contains the others. Updates run first and deletions last, so that the account is never less
 * protected than before and after the plan. If it would exceed its limit of rules, deletions run before creations.
 */
export async function applyPlan(
  client: RulesClient,
  plan: Plan,
  { onStep, signal }: ApplyOptions,
): Promise<void> {
  for (const { rule, changes } of plan.updates) {
    signal?.throwIfAborted();
    const after = await client.update(rule.id, changes, await tagOf(client, rule));
    if (Object.keys(client.format.changes(after, { ...rule, ...changes })).length > 0)
      throw new PlanOutdated(rule);
    onStep({ kind: 'changed', rule });
  }
  const seen = existingRules(plan);
  const create = async () => {
    for (const rule of plan.creates) {
      signal?.throwIfAborted();
      onStep({ kind: 'created', rule, messages: (await createOnce(client, rule, seen)).messages });
    }
  };
  const remove = async () => {
    for (const rule of plan.deletes) {
      signal?.throwIfAborted();
      await client.delete(rule.id, await tagOf(client, rule));
      onStep({ kind: 'deleted', rule });
    }
  };
  const inTheEnd = plan.unchanged.length + plan.updates.length + plan.creates.length;
  const needsRoom = inTheEnd + plan.deletes.length > MAX_RULES_PER_ACCOUNT;
  for (const step of needsRoom ? [remove, create] : [create, remove]) await step();
}

/** Returns the ETag of a rule that is as in the plan. With it, the server rejects a change if the rule changed. */
async function tagOf(client: RulesClient, known: Rule): Promise<string | undefined> {
  const { rule, etag } = await client.get(known.id);
  if (!client.format.isSame(rule, known)) throw new PlanOutdated(known);
  return etag;
}
