import Type, { type TObject, type TSchema } from 'typebox';

/** Schema of one field of a rule. */
export interface FieldSchema extends TSchema {
  readonly type: 'string' | 'boolean' | 'integer' | 'number';
  readonly enum?: readonly string[];
  /** Value in rules that were stored before the field existed and, if it is optional, in rules created without it. */
  readonly default?: unknown;
}

const TYPES = ['string', 'boolean', 'integer', 'number'] as const satisfies readonly FieldSchema['type'][];

/** Returns the fields of a rule schema in its order. Throws `TypeError` if a field cannot be stored or displayed. */
export function fieldsOf({ properties }: TObject): (readonly [string, FieldSchema])[] {
  return Object.entries(properties).map(([member, field]) => {
    if (!isFieldSchema(field)) throw new TypeError(`${member} must be one of these: ${TYPES.join(', ')}`);
    if (Type.IsOptional(field) && field.default === undefined)
      throw new TypeError(`${member} is optional and needs a default for creations without it`);
    return [member, field];
  });
}

function isFieldSchema(field: TSchema): field is FieldSchema {
  return 'type' in field && TYPES.some((type) => type === field.type);
}

export function typeofField({ type }: FieldSchema): string {
  return type === 'integer' ? 'number' : type;
}
