import type { JsonSchema } from '../paramType.ts';
import { hexText } from '../paramTypes.ts';
import type { MethodRow, ResultShape } from '../row.ts';

const SHAPES: Readonly<Record<ResultShape, JsonSchema>> = {
  quantity: hexText('{1,64}'),
  data: hexText('*'),
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  list: { type: 'array' },
  any: {},
};

export function resultSchema(row: MethodRow): JsonSchema {
  if ('resultSchema' in row && row.resultSchema !== undefined) return row.resultSchema;
  if (!('result' in row)) return { type: 'object' };
  const schema = SHAPES[row.result];
  return row.nullable === true && row.result !== 'any' ? { anyOf: [schema, { type: 'null' }] } : schema;
}
