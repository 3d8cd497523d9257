import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RuleField } from '../../../rules/index.ts';

/** Descriptions of flags, by rule field. The other flags need none, because their values explain them. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  scope: 'location that the rule applies to',
  name: 'name of the region or datacenter; a label for global',
};

/** Returns a flag such as `--rate-sensitivity <level>`. */
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

/** Returns the values of the flags that the user gave, by rule field. */
export function flaggedFields(command: Command, fields: readonly RuleField[]): Record<string, unknown> {
  const flags = command.opts<Readonly<Record<string, unknown>>>();
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = flags[flagOf(field).attributeName()];
      return value === undefined ? [] : [[field.member, value]];
    }),
  );
}

/** Parses a value, but does not check its limits, because a newer server may have other limits. */
function readValue(text: string, type: RuleField['schema']['type']): boolean | number {
  if (type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw new InvalidArgumentError('It must be true or false.');
  }
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number)) throw new InvalidArgumentError('It must be a number.');
  return number;
}
