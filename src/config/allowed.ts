import { type TSchema, Type } from 'typebox';
import type { OptionNotes } from './option.ts';

/** Limits in the JSON Schema of an option. The types of TypeBox do not declare them. */
interface Constraints {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

export function allowed(schema: TSchema & OptionNotes): string {
  const limits = schema as Constraints; // see Constraints
  const unit = schema.unit === undefined ? '' : ` (${schema.unit})`;
  if (schema.allowed !== undefined) return schema.allowed;
  if (Type.IsUnion(schema)) return schema.anyOf.map((member) => allowed(member)).join(', ');
  if (Type.IsLiteral(schema)) return JSON.stringify(schema.const);
  if (Type.IsBoolean(schema)) return 'true, false';
  if (Type.IsInteger(schema)) return `a whole number from ${limits.minimum} to ${limits.maximum}${unit}`;
  if (Type.IsNumber(schema)) return `a number from ${limits.minimum} to ${limits.maximum}${unit}`;
  if (Type.IsArray(schema)) return `a list of at most ${limits.maxItems}, each ${allowed(schema.items)}`;
  if (Type.IsString(schema)) return allowedText(limits);
  return 'see docs/reference/configuration.md';
}

/** Describes the allowed values of a string option without a pattern. Options with one have their own `allowed`. */
function allowedText(limits: Constraints): string {
  if (limits.maxLength !== undefined)
    return `${limits.minLength ?? 0} to ${limits.maxLength} visible ASCII characters without spaces`;
  return 'a text that is not empty';
}
