import { allowedAccountId, allowedRuleId, describeValue, isAccountId, isRuleId } from '../index.ts';

/** An id is invalid, so the request is not sent: with an empty id or a slash, the path would name another object. */
class InvalidIdError extends Error {
  override readonly name = 'InvalidIdError';

  constructor(field: 'ruleId' | 'zonePolicyId' | 'accountId' | 'attackId', value: unknown, allowed: string) {
    super(`${field} is ${describeValue(value)}; allowed: ${allowed}. Nothing was sent`);
  }
}

/** Returns a valid id for use in a path. Accepts any value, because untyped callers may pass `undefined`. */
export function checkedItemId(field: 'ruleId' | 'zonePolicyId', value: unknown): string {
  if (!isRuleId(value)) throw new InvalidIdError(field, value, allowedRuleId);
  return value;
}

export function checkedAttackId(value: unknown): string {
  if (!isRuleId(value)) throw new InvalidIdError('attackId', value, allowedRuleId);
  return value;
}

export function checkedAccountId(value: unknown): string {
  if (!isAccountId(value)) throw new InvalidIdError('accountId', value, allowedAccountId);
  return value;
}
