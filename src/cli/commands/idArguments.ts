import { InvalidArgumentError } from 'commander';
import { allowedAccountId, allowedRuleId, isAccountId, isRuleId } from '../../rules/index.ts';
import { OperatorError } from '../operatorError.ts';

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

/** Reads a rule id, or its first characters, which `completeId` completes. */
export function readRuleIdStart(value: string): string {
  if (!isRuleId(value) && !shortId.test(value))
    throw new InvalidArgumentError(
      `A rule's id is ${allowedRuleId}, or at least its first ${SHORT_ID_LENGTH} characters.`,
    );
  return value;
}

/** Reads one of several rule ids or their first characters. All are checked before the command starts. */
export const readRuleIdStarts = (value: string, before: readonly string[] = []): string[] => [
  ...before,
  readRuleIdStart(value),
];

/** Characters of an id that tables show on a terminal. */
const SHORT_ID_LENGTH = 8;
const shortId = new RegExp(`^[0-9a-f][0-9a-f-]{${SHORT_ID_LENGTH - 1},35}$`, 'i');

/** Returns an id as tables show it: short on a terminal, complete in a pipe, for scripts. */
export const shownId = (id: string): string => (process.stdout.isTTY ? id.slice(0, SHORT_ID_LENGTH) : id);

/** Returns the only id that begins with `start`. Throws `OperatorError` if there is none, or more than one. */
export function completeId(start: string, ids: readonly string[]): string {
  const found = ids.filter((id) => id.startsWith(start.toLowerCase()));
  if (found.length > 1)
    throw new OperatorError(
      `${start} is the start of ${found.length} ids: ${found.join(', ')}; use more characters`,
    );
  if (found[0] === undefined) throw new OperatorError(`No id begins with ${start}`);
  return found[0];
}
