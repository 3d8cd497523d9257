import { createHash } from 'node:crypto';
import type { Created, RulesClient } from '../client/index.ts';
import { type NewRule, type Rule, targetOf } from '../index.ts';

/** Maximum number of times that a rule was created and deleted while its retry keys are valid. Far above real use. */
const MAX_DELETED_BEFORE = 100;

/**
 * Creates a rule one time, even if another client applies the same plan at the same time. Both clients derive the
 * same retry key from the rule and the current rules with its target, so the server creates one rule and returns it
 * to both. Rules with other targets are not part of the key and may change meanwhile. If a rule that was created with
 * a key is deleted by now, the next key is derived from that key and the id of the deleted rule.
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
