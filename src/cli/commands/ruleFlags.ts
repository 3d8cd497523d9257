import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RuleField } from '../../rules/index.ts';

/** What the flags of some fields are described by; the values of the others say enough. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  scope: 'where it applies',
  name: 'name of the region or datacenter; a label for global',
};

/** The flag of a field, named as in a rule with dashes: `--rate-sensitivity <level>`. */
export function flagOf({ member, schema }: RuleField): Option {
  const value = member.endsWith('_sensitivity') ? 'level' : member.replaceAll('_', '-');
  const option = new Option(`${flagName(member)} <${value}>`, DESCRIPTIONS[member]);
  if (schema.enum !== undefined) return option.choices(schema.enum);
  if (schema.type === 'string') return option;
  return option.argParser((text) => readValue(text, schema.type));
}

export function flagName(member: string): string {
  return `--${member.replaceAll('_', '-')}`;
}

/** The values of those fields whose flags were given, by their names in a rule. */
export function flaggedFields(command: Command, fields: readonly RuleField[]): Record<string, unknown> {
  const flags = command.opts<Readonly<Record<string, unknown>>>();
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = flags[flagOf(field).attributeName()];
      return value === undefined ? [] : [[field.member, value]];
    }),
  );
}

/** Only reads the value: the server, which may be newer, checks it. */
function readValue(text: string, type: RuleField['schema']['type']): boolean | number {
  if (type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new InvalidArgumentError('It must be true or false.');
  }
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('It must be a number.');
  return number;
}
