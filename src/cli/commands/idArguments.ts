import { InvalidArgumentError } from 'commander';
import { allowedAccountId, allowedRuleId, isAccountId, isRuleId } from '../../rules/index.ts';

/** Reads an account id from a flag or a variable; an empty one is refused like any other that is none. */
export function readAccountId(value: string): string {
  if (!isAccountId(value)) throw new InvalidArgumentError(`An account id is ${allowedAccountId}.`);
  return value;
}

/** Reads a rule's id. A shell puts nothing in the place of a variable that is unset. */
export function readRuleId(value: string): string {
  if (!isRuleId(value)) throw new InvalidArgumentError(`A rule's id is ${allowedRuleId}.`);
  return value;
}

/** For an argument that may come several times: all are read, and so refused, before the command begins. */
export const readRuleIds = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  readRuleId(value),
];
