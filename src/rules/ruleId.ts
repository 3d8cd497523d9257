/** A rule's id as it may stand in a path: a UUID, its digits in either case. */
export const ruleIdPattern = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';
const ruleId = new RegExp(ruleIdPattern);

/** What an id may be, for messages. */
export const allowedRuleId = 'a UUID such as 31c70c65-9f81-4669-94ed-1e1e041e7b06';

/** Whether a value can be the id of a rule. An empty text is none: in a path it would name the whole collection. */
export function isRuleId(value: unknown): value is string {
  return typeof value === 'string' && ruleId.test(value);
}
