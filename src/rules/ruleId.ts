/** Matches a rule id in a URL path: a UUID in upper or lower case. */
const ruleId = /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** Description of a valid rule id, for messages. */
export const allowedRuleId = 'a UUID such as 31c70c65-9f81-4669-94ed-1e1e041e7b06';

/**
 * Returns whether a value is a valid rule id. An empty string is invalid, because a URL path that ends with it names
 * the whole collection of rules.
 */
export function isRuleId(value: unknown): value is string {
  return typeof value === 'string' && ruleId.test(value);
}
