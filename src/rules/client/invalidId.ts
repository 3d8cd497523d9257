import { allowedAccountId, allowedRuleId, describeValue, isAccountId, isRuleId } from '../index.ts';

/**
 * What came as an id is none. Thrown before anything is sent: in the path of a request an id that is empty, or that
 * holds a slash, would name something else than one rule of one account.
 */
class InvalidIdError extends Error {
  override readonly name = 'InvalidIdError';

  constructor(field: 'ruleId' | 'accountId' | 'attackId', value: unknown, allowed: string) {
    super(`${field} is ${describeValue(value)}; allowed: ${allowed}. Nothing was sent`);
  }
}

/** The id as it goes into a path. Takes any value: callers without types pass `undefined` too. */
export function checkedRuleId(value: unknown): string {
  if (!isRuleId(value)) throw new InvalidIdError('ruleId', value, allowedRuleId);
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
