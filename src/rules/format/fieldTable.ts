import { allowedValues } from './objectChecker.ts';
import { type RuleField, ruleFormat } from './ruleFormat.ts';

/** Returns a Markdown table of the fields of a rule, for the documentation. */
export function fieldTable(fields: readonly RuleField[] = ruleFormat.fields): string {
  const rows = [
    ['Field', 'Values', 'Changed by PATCH'],
    ...fields.map((field) => [`\`${field.member}\``, valuesOf(field), field.isSetting ? 'yes' : 'no']),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

function valuesOf({ schema, isOptional }: RuleField): string {
  const orElse = isOptional ? `; default: \`${schema.default}\`` : '';
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ') + orElse;
  return allowedValues(schema).replace(/^a string of /, '') + orElse;
}
