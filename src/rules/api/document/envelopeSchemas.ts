import Type, { type TSchema } from 'typebox';
import {
  accessLists,
  entryPatchSchema,
  nameEntrySchema,
  networkEntrySchema,
  newNameEntrySchema,
  newNetworkEntrySchema,
  newTokenSchema,
  newZonePolicySchema,
  type RuleFormat,
  zonePolicyPatchSchema,
  zonePolicySchema,
} from '../../index.ts';
import { cursorPattern, MAX_AUDIT_PAGE } from '../handlers/auditHandler.ts';
import { alertSchemas } from './alertSchemas.ts';
import { guardSchemas } from './guardSchemas.ts';
import { healthSchemas } from './healthSchemas.ts';
import {
  createdGatewayKeySchema,
  gatewayKeySchema,
  gatewaySchema,
  namesSchema,
  newGatewayKeySchema,
} from './keySchemas.ts';
import { apiTokenSchema, auditedTokenSchema, createdApiTokenSchema } from './tokenSchemas.ts';

const closed = { additionalProperties: false };
const ref = (name: string) => Type.Ref(`#/components/schemas/${name}`);

/**
 * Schema of a member that is always null. It allows other types too, because many client generators fail for the type
 * null alone, and for constants.
 */
const alwaysNull = (type: readonly string[]): TSchema => Type.Unsafe({ type, description: 'Always null.' });

const entrySchema = Type.Object(
  {
    code: Type.Integer({ minimum: 1000 }),
    message: Type.String({ minLength: 1 }),
    source: Type.Optional(
      Type.Object({ pointer: Type.String({ description: 'JSON pointer to the invalid field.' }) }, closed),
    ),
    error_chain: Type.Optional(
      Type.Array(Type.Object({ code: Type.Integer(), message: Type.String() }, closed), {
        description: 'Causes of the error.',
      }),
    ),
    type: Type.Optional(alwaysNull(['string', 'null'])),
  },
  closed,
);

const resultInfoSchema = Type.Object(
  {
    page: Type.Integer({ minimum: 1 }),
    per_page: Type.Integer({ minimum: 1, maximum: 1000 }),
    count: Type.Integer({ minimum: 0, description: 'Number of items on this page.' }),
    total_count: Type.Integer({ minimum: 0, description: 'Number of items on all pages.' }),
    total_pages: Type.Integer({ minimum: 0 }),
  },
  closed,
);

const cursorInfoSchema = Type.Object(
  {
    per_page: Type.Integer({ minimum: 1, maximum: MAX_AUDIT_PAGE }),
    count: Type.Integer({ minimum: 0, description: 'Changes on this page.' }),
    cursor: Type.Optional(
      Type.String({
        pattern: cursorPattern,
        description: 'Value of `cursor` for the next page, with older changes. Missing on the last page.',
      }),
    ),
  },
  closed,
);

const changeMembers = {
  at: Type.String({ format: 'date-time', description: 'Time of the change, unique among all changes.' }),
  by: Type.String({
    description:
      'Id of the token, `configured:` and 16 hex digits for the server’s own token, or `cli:` and a user name for a command.',
  }),
  label: Type.Optional(Type.String({ description: 'Label of the token.' })),
  from: Type.String({ description: 'Address of the client; `local` for a command on the same machine.' }),
};
const accountMember = { account: Type.String() };

const ruleChangeSchema = Type.Object(
  {
    ...changeMembers,
    ...accountMember,
    rule: Type.String({ description: 'Id of the rule.' }),
    action: Type.Enum(['rule.create', 'rule.update', 'rule.delete'], { type: 'string' }),
    before: Type.Optional(ref('Rule')),
    after: Type.Optional(ref('Rule')),
  },
  closed,
);

const listChangeSchema = Type.Object(
  {
    ...changeMembers,
    ...accountMember,
    list: Type.Enum(Object.keys(accessLists), { type: 'string' }),
    entry: Type.String({ description: 'Id of the entry.' }),
    action: Type.Enum(['list.create', 'list.update', 'list.delete'], { type: 'string' }),
    before: Type.Optional(ref('AccessEntry')),
    after: Type.Optional(ref('AccessEntry')),
  },
  closed,
);

const zoneForgottenSchema = Type.Object(
  {
    ...changeMembers,
    ...accountMember,
    zone: Type.String({ description: 'Name of the zone.' }),
    policy: Type.String({ description: 'Id of its policy.' }),
    action: Type.Enum(['zone.forget'], { type: 'string' }),
  },
  closed,
);

const zoneChangeSchema = Type.Object(
  {
    ...changeMembers,
    ...accountMember,
    zone: Type.String({ description: 'Name of the zone.' }),
    policy: Type.String({ description: 'Id of the zone policy.' }),
    action: Type.Enum(['zone.create', 'zone.update', 'zone.delete'], { type: 'string' }),
    before: Type.Optional(ref('ZonePolicy')),
    after: Type.Optional(ref('ZonePolicy')),
  },
  closed,
);

const tokenChangeSchema = Type.Object(
  {
    ...changeMembers,
    token: Type.String({ description: 'Id of the token.' }),
    action: Type.Enum(['token.create', 'token.revoke'], { type: 'string' }),
    before: Type.Optional(ref('AuditedToken')),
    after: Type.Optional(ref('AuditedToken')),
  },
  closed,
);

const keyChangeSchema = Type.Object(
  {
    ...changeMembers,
    key: Type.String({ description: 'Id of the API key.' }),
    action: Type.Enum(['key.create', 'key.revoke'], { type: 'string' }),
    before: Type.Optional(ref('GatewayKeyCreation')),
    after: Type.Optional(ref('GatewayKeyCreation')),
  },
  closed,
);

const changeSchemas = {
  RuleChange: ruleChangeSchema,
  ListChange: listChangeSchema,
  ZoneChange: zoneChangeSchema,
  ZoneForgotten: zoneForgottenSchema,
  TokenChange: tokenChangeSchema,
  KeyChange: keyChangeSchema,
};

const tokenSchema = Type.Object(
  {
    id: Type.String({ description: 'Identifies the token in the audit log.' }),
    status: Type.Enum(['active'], { type: 'string' }),
    expires_on: Type.Optional(Type.String({ format: 'date-time' })),
  },
  closed,
);

const currentTokenSchema = Type.Object(
  {
    id: Type.String({ description: 'Identifies the token in the audit log.' }),
    label: Type.Optional(Type.String({ description: 'Label of the token.' })),
    permissions: Type.Array(Type.String()),
    all_accounts: Type.Boolean(),
    accounts: Type.Array(Type.String(), { description: 'Empty if the token is for all accounts.' }),
    expires_on: Type.Optional(Type.String({ format: 'date-time' })),
    guarded_account: Type.Optional(
      Type.String({ description: 'Account whose DNS this server protects, if the token is for it.' }),
    ),
  },
  closed,
);

function success(result: Record<string, TSchema>): TSchema {
  const messages = Type.Array(ref('Entry'), { description: 'Additional information about the result.' });
  return Type.Object(
    {
      ...result,
      success: Type.Boolean({ description: 'Always true.' }),
      errors: Type.Array(ref('Entry'), { maxItems: 0 }),
      messages,
    },
    closed,
  );
}

/** Returns the named schemas of the OpenAPI document. The schemas of rules also validate requests. */
export const namedSchemas = ({ schemas }: RuleFormat) => ({
  Rule: schemas.rule,
  // The name is not `NewRule`, because Go generators use the prefix "New" for constructors.
  RuleCreation: schemas.newRule,
  RulePatch: schemas.rulePatch,
  AccessEntry: Type.Union([networkEntrySchema, nameEntrySchema]),
  AccessEntryCreation: Type.Union([newNetworkEntrySchema, newNameEntrySchema]),
  AccessEntryPatch: entryPatchSchema,
  ZonePolicy: zonePolicySchema,
  ZonePolicyCreation: newZonePolicySchema,
  ZonePolicyPatch: zonePolicyPatchSchema,
  Entry: entrySchema,
  ResultInfo: resultInfoSchema,
  Token: tokenSchema,
  CurrentToken: currentTokenSchema,
  AnalyticsAnswer: success({
    result: Type.Object(
      {},
      { description: 'See docs/reference/dns-attacks.md, section "What can be seen".' },
    ),
  }),
  ...guardSchemas,
  ...alertSchemas,
  AlertsAnswer: success({ result: ref('Alerts') }),
  AlertTestAnswer: success({ result: Type.Array(ref('AlertTest')) }),
  ...healthSchemas,
  HealthAnswer: success({ result: ref('Health') }),
  HealthHistoryAnswer: success({ result: Type.Array(ref('HealthMinute'), { maxItems: 1440 }) }),
  GuardStatusAnswer: success({ result: ref('GuardStatus') }),
  GuardRatesAnswer: success({ result: ref('GuardRates') }),
  GuardMinuteRatesAnswer: success({ result: ref('GuardMinuteRates') }),
  SampledQueriesAnswer: success({ result: ref('SampledQueries') }),
  WhatIfAnswer: success({ result: ref('WhatIf') }),
  CurrentTokenAnswer: success({ result: ref('CurrentToken') }),
  AttackListAnswer: success({ result: Type.Array(ref('AttackSummary')), result_info: ref('ResultInfo') }),
  AttackAnswer: success({ result: ref('Attack') }),
  ZoneAssessmentListAnswer: success({
    result: Type.Array(ref('ZoneAssessment')),
    result_info: ref('ResultInfo'),
  }),
  FleetAnswer: success({ result: Type.Array(ref('FleetInstance'), { maxItems: 1000 }) }),
  RuleAnswer: success({ result: ref('Rule') }),
  RuleListAnswer: success({ result: Type.Array(ref('Rule')), result_info: ref('ResultInfo') }),
  ...changeSchemas,
  AuditedToken: auditedTokenSchema,
  CursorInfo: cursorInfoSchema,
  AuditAnswer: success({
    result: Type.Array(Type.Union(Object.keys(changeSchemas).map(ref))),
    result_info: ref('CursorInfo'),
  }),
  AccessEntryAnswer: success({ result: ref('AccessEntry') }),
  AccessListAnswer: success({ result: Type.Array(ref('AccessEntry')), result_info: ref('ResultInfo') }),
  ZonePolicyAnswer: success({ result: ref('ZonePolicy') }),
  ZonePolicyListAnswer: success({ result: Type.Array(ref('ZonePolicy')), result_info: ref('ResultInfo') }),
  ApiToken: apiTokenSchema,
  CreatedApiToken: createdApiTokenSchema,
  ApiTokenCreation: newTokenSchema,
  ApiTokenAnswer: success({ result: ref('ApiToken') }),
  ApiTokenListAnswer: success({ result: Type.Array(ref('ApiToken')), result_info: ref('ResultInfo') }),
  CreatedApiTokenAnswer: success({ result: ref('CreatedApiToken') }),
  Gateway: gatewaySchema,
  GatewayAnswer: success({ result: ref('Gateway') }),
  Names: namesSchema,
  NamesAnswer: success({ result: ref('Names') }),
  GatewayKey: gatewayKeySchema,
  CreatedGatewayKey: createdGatewayKeySchema,
  GatewayKeyCreation: newGatewayKeySchema,
  GatewayKeyAnswer: success({ result: ref('GatewayKey') }),
  GatewayKeyListAnswer: success({ result: Type.Array(ref('GatewayKey')), result_info: ref('ResultInfo') }),
  CreatedGatewayKeyAnswer: success({ result: ref('CreatedGatewayKey') }),
  TokenAnswer: success({ result: ref('Token') }),
  DoneAnswer: success({}),
  ErrorAnswer: Type.Object(
    {
      result: alwaysNull(['object', 'null']),
      success: Type.Boolean({ description: 'Always false.' }),
      errors: Type.Array(ref('Entry'), { minItems: 1 }),
      messages: Type.Array(ref('Entry'), { maxItems: 0 }),
    },
    closed,
  ),
});

export type SchemaName = keyof ReturnType<typeof namedSchemas>;
