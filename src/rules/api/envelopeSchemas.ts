import Type, { type TSchema } from 'typebox';
import {
  entryPatchSchema,
  nameEntrySchema,
  networkEntrySchema,
  newNameEntrySchema,
  newNetworkEntrySchema,
  type RuleFormat,
} from '../index.ts';

const closed = { additionalProperties: false };
const ref = (name: string) => Type.Ref(`#/components/schemas/${name}`);

const entrySchema = Type.Object(
  {
    code: Type.Integer({ minimum: 1000 }),
    message: Type.String({ minLength: 1 }),
    source: Type.Optional(
      Type.Object({ pointer: Type.String({ description: 'JSON pointer to the field at fault.' }) }, closed),
    ),
    error_chain: Type.Optional(
      Type.Array(Type.Object({ code: Type.Integer(), message: Type.String() }, closed), {
        description: 'What lies behind the error.',
      }),
    ),
    type: Type.Optional(Type.Null()),
  },
  closed,
);

const resultInfoSchema = Type.Object(
  {
    page: Type.Integer({ minimum: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: 1000 }),
    count: Type.Integer({ minimum: 0, description: 'Rules, or entries, on this page.' }),
    total_count: Type.Integer({ minimum: 0, description: 'Rules, or entries, on all pages.' }),
    total_pages: Type.Integer({ minimum: 0 }),
  },
  closed,
);

const tokenSchema = Type.Object(
  {
    id: Type.String({ description: 'Names the token in the audit.' }),
    status: Type.Enum(['active'], { type: 'string' }),
    expires_on: Type.Optional(Type.String({ format: 'date-time' })),
  },
  closed,
);

function success(result: Record<string, TSchema>): TSchema {
  const messages = Type.Array(ref('Entry'), { description: 'What is worth knowing beside the result.' });
  return Type.Object(
    {
      ...result,
      success: Type.Literal(true),
      errors: Type.Array(ref('Entry'), { maxItems: 0 }),
      messages,
    },
    closed,
  );
}

/** Every schema that the OpenAPI document names; those of rules are the ones that requests are checked against. */
export const namedSchemas = ({ schemas }: RuleFormat) => ({
  Rule: schemas.rule,
  NewRule: schemas.newRule,
  RulePatch: schemas.rulePatch,
  AccessEntry: Type.Union([networkEntrySchema, nameEntrySchema]),
  NewAccessEntry: Type.Union([newNetworkEntrySchema, newNameEntrySchema]),
  AccessEntryPatch: entryPatchSchema,
  Entry: entrySchema,
  ResultInfo: resultInfoSchema,
  Token: tokenSchema,
  AnalyticsAnswer: success({
    result: Type.Object({}, { description: 'See docs/dns-protection.md, section Seen.' }),
  }),
  RuleAnswer: success({ result: ref('Rule') }),
  RuleListAnswer: success({ result: Type.Array(ref('Rule')), result_info: ref('ResultInfo') }),
  AccessEntryAnswer: success({ result: ref('AccessEntry') }),
  AccessListAnswer: success({ result: Type.Array(ref('AccessEntry')), result_info: ref('ResultInfo') }),
  TokenAnswer: success({ result: ref('Token') }),
  DoneAnswer: success({}),
  ErrorAnswer: Type.Object(
    {
      result: Type.Null(),
      success: Type.Literal(false),
      errors: Type.Array(ref('Entry'), { minItems: 1 }),
      messages: Type.Array(ref('Entry'), { maxItems: 0 }),
    },
    closed,
  ),
});

export type SchemaName = keyof ReturnType<typeof namedSchemas>;
