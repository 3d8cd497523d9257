import { InvalidArgumentError } from 'commander';
import { allowedAccountId, allowedRuleId, isAccountId, isRuleId } from '../../rules/index.ts';

/** Throws InvalidArgumentError, even for an empty id. */
export function readAccountId(value: string): string {
  if (!isAccountId(value)) throw new InvalidArgumentError(`An account id is ${allowedAccountId}.`);
  return value;
}

/** Throws InvalidArgumentError, even for an empty id: a shell expands an unset variable to nothing. */
export function readRuleId(value: string): string {
  if (!isRuleId(value)) throw new InvalidArgumentError(`A rule's id is ${allowedRuleId}.`);
  return value;
}

/** For a repeatable argument. All ids are checked before the command starts. */
export const readRuleIds = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  readRuleId(value),
];
