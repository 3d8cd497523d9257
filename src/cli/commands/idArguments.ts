import { InvalidArgumentError } from 'commander';
import { allowedAccountId, allowedRuleId, isAccountId, isRuleId } from '../../rules/index.ts';

/** Reads an account id. Throws InvalidArgumentError if the id is invalid or empty. */
export function readAccountId(value: string): string {
  if (!isAccountId(value)) throw new InvalidArgumentError(`An account id is ${allowedAccountId}.`);
  return value;
}

/** Reads a rule id. Rejects an empty id, because a shell replaces an unset variable by nothing. */
export function readRuleId(value: string): string {
  if (!isRuleId(value)) throw new InvalidArgumentError(`A rule's id is ${allowedRuleId}.`);
  return value;
}

/** Reads one of several rule ids. All ids are checked before the command starts. */
export const readRuleIds = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  readRuleId(value),
];
