import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { RuleField } from '../../../rules/index.ts';
import { OperatorError } from '../../operatorError.ts';
import { flaggedFields, flagName } from './ruleFlags.ts';

/**
 * Returns the fields of a new item from the flags of a command. On a terminal, asks for mandatory fields that are
 * missing. Elsewhere ends the command with an error that names all of them.
 */
export async function completeFields(
  command: Command,
  fields: readonly RuleField[],
): Promise<Record<string, unknown>> {
  const given = flaggedFields(command, fields);
  const missing = fields.filter(({ isOptional, member }) => !isOptional && given[member] === undefined);
  if (missing.length === 0) return given;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    command.error(
      `error: missing options: ${missing.map((field) => `${flagName(field.member)} ${allowedOf(field)}`).join(', ')}`,
    );
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const asked: Record<string, unknown> = { ...given };
    for (const field of missing) asked[field.member] = await ask(lines, field);
    return asked;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    // Ctrl-C or Ctrl-D: the message starts on a new line.
    process.stderr.write('\n');
    throw new OperatorError('Not all questions were answered; nothing was created');
  } finally {
    lines.close();
  }
}

/** Asks until the answer is one of the allowed values. */
async function ask(lines: ReturnType<typeof createInterface>, field: RuleField): Promise<string> {
  const values = field.schema.enum;
  for (;;) {
    const answer = (await lines.question(`${field.member} ${allowedOf(field)}: `)).trim();
    if (values === undefined ? answer !== '' : values.includes(answer)) return answer;
    process.stderr.write(`Allowed: ${allowedOf(field)}\n`);
  }
}

const allowedOf = ({ schema }: RuleField): string =>
  schema.enum === undefined ? `(${schema.type})` : `(${schema.enum.join(', ')})`;
