import type { RulesClient } from '../client/index.ts';
import { MAX_RULES_PER_ACCOUNT, type NewRule, type Rule } from '../index.ts';
import { createOnce } from './createOnce.ts';
import { type Plan, rulesSeen } from './makePlan.ts';

/** The rules are not any more as they were when the plan was made. */
class PlanOutdated extends Error {
  constructor(rule: Rule) {
    super(`${rule.scope} ${rule.name} (${rule.id}) was changed since the plan was made; make a new plan`);
    this.name = 'PlanOutdated';
  }
}

/** What was done, one step at a time. */
export type Step =
  | { readonly kind: 'created'; readonly rule: NewRule; readonly messages: readonly string[] }
  | { readonly kind: 'changed' | 'deleted'; readonly rule: Rule };

export interface ApplyOptions {
  readonly onStep: (step: Step) => void;
  /** Ends it between two steps, with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Does exactly what a plan says. Throws `PlanOutdated` at the first rule that is not as the plan knows it; what was
 * done until then stays, and a new plan goes on from there. Changes come first and deletions last, so that at no time
 * there is less protection than before or after; only a full account has room made first.
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
  const seen = rulesSeen(plan);
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

/** The tag of a rule that is still as the plan knows it, so that the server refuses what comes in between. */
async function tagOf(client: RulesClient, known: Rule): Promise<string | undefined> {
  const { rule, etag } = await client.get(known.id);
  if (!client.format.isSame(rule, known)) throw new PlanOutdated(known);
  return etag;
}
