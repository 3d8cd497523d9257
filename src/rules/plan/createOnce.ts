import { createHash } from 'node:crypto';
import type { Created, RulesClient } from '../client/index.ts';
import { type NewRule, type Rule, targetOf } from '../index.ts';

/** How often one rule can have been created and deleted again within the life of a key; far more than anybody does. */
const MAX_DELETED_BEFORE = 100;

/**
 * Creates a rule, and no second one where the same creation is under way elsewhere, planned from the same state: both
 * send the same key, so the server makes one rule and tells both of it. What counts as the same state is the rules with
 * this target: the others may change while a plan is carried out. A rule that the key made and that was deleted
 * since is made again, under a key that everybody derives alike from that rule's id.
 */
export async function createOnce(
  client: RulesClient,
  rule: NewRule,
  seen: readonly Rule[],
): Promise<Created> {
  const competing = seen.filter((other) => targetOf(other) === targetOf(rule));
  const state = competing.map(({ id, modified_on }) => [id, modified_on]).sort();
  const wanted = client.format.newRuleMembers.map((member) => rule[member]);
  let key = keyOf([client.accountId, targetOf(rule), wanted, state]);
  for (let deleted = 0; deleted < MAX_DELETED_BEFORE; deleted++) {
    const created = await client.create(rule, key);
    if (!created.replayed || (await client.has(created.rule.id))) return created;
    key = keyOf([key, created.rule.id]);
  }
  return client.create(rule);
}

function keyOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
