import Type, { type TObject, type TSchema } from 'typebox';

/** The schema of one field of a rule. */
export interface FieldSchema extends TSchema {
  readonly type: 'string' | 'boolean' | 'integer' | 'number';
  readonly enum?: readonly string[];
  /** What rules have that were stored before there was this field, and where it is optional those created without it. */
  readonly default?: unknown;
}

const TYPES = ['string', 'boolean', 'integer', 'number'] as const satisfies readonly FieldSchema['type'][];

/** The fields of a schema, in their order. Throws `TypeError` where one could not be stored, compared or shown. */
export function fieldsOf({ properties }: TObject): (readonly [string, FieldSchema])[] {
  return Object.entries(properties).map(([member, field]) => {
    if (!isFieldSchema(field)) throw new TypeError(`${member} must be one of these: ${TYPES.join(', ')}`);
    if (Type.IsOptional(field) && field.default === undefined)
      throw new TypeError(`${member} is optional and needs a default: what a creation without it means`);
    return [member, field];
  });
}

function isFieldSchema(field: TSchema): field is FieldSchema {
  return 'type' in field && TYPES.some((type) => type === field.type);
}

/** What `typeof` says of a field's values. */
export function typeofField({ type }: FieldSchema): string {
  return type === 'integer' ? 'number' : type;
}
