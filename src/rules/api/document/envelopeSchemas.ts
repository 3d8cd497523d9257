import Type, { type TProperties, type TSchema } from 'typebox';
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
import { closedObject, moment, oneOf, ref, text } from './schemaParts.ts';
import { apiTokenSchema, auditedTokenSchema, createdApiTokenSchema } from './tokenSchemas.ts';

/**
 * Schema of a member that is always null. It allows other types too, because many client generators fail for the type
 * null alone, and for constants.
 */
const alwaysNull = (type: readonly string[]): TSchema => Type.Unsafe({ type, description: 'Always null.' });

const entrySchema = closedObject({
  code: Type.Integer({ minimum: 1000 }),
  message: Type.String({ minLength: 1 }),
  source: Type.Optional(closedObject({ pointer: text('JSON pointer to the invalid field.') })),
  error_chain: Type.Optional(
    Type.Array(closedObject({ code: Type.Integer(), message: Type.String() }), {
      description: 'Causes of the error.',
    }),
  ),
  type: Type.Optional(alwaysNull(['string', 'null'])),
});

const resultInfoSchema = closedObject({
  page: Type.Integer({ minimum: 1 }),
  per_page: Type.Integer({ minimum: 1, maximum: 1000 }),
  count: Type.Integer({ minimum: 0, description: 'Number of items on this page.' }),
  total_count: Type.Integer({ minimum: 0, description: 'Number of items on all pages.' }),
  total_pages: Type.Integer({ minimum: 0 }),
});

const cursorInfoSchema = closedObject({
  per_page: Type.Integer({ minimum: 1, maximum: MAX_AUDIT_PAGE }),
  count: Type.Integer({ minimum: 0, description: 'Changes on this page.' }),
  cursor: Type.Optional(
    Type.String({
      pattern: cursorPattern,
      description: 'Value of `cursor` for the next page, with older changes. Missing on the last page.',
    }),
  ),
});

const changeMembers = {
  at: moment('Time of the change, unique among all changes.'),
  by: text(
    'Id of the token, `configured:` and 16 hex digits for the server’s own token, or `cli:` and a user name for a command.',
  ),
  label: Type.Optional(text('Label of the token.')),
  from: text('Address of the client; `local` for a command on the same machine.'),
};

const CHANGES = ['create', 'update', 'delete'] as const;
const account = Type.String();
const zone = text('Name of the zone.');

/** Returns the members of a change. `item`: the schema of the record before and after it. */
const actions = <Kind extends string, Verb extends string, Item extends string>(
  kind: Kind,
  verbs: readonly Verb[],
  item: Item,
) => ({
  action: oneOf(verbs.map((verb) => `${kind}.${verb}` as const)),
  before: Type.Optional(ref(item)),
  after: Type.Optional(ref(item)),
});
const change = <Members extends TProperties>(members: Members) =>
  closedObject({ ...changeMembers, ...members });

const changeSchemas = {
  RuleChange: change({ account, rule: text('Id of the rule.'), ...actions('rule', CHANGES, 'Rule') }),
  ListChange: change({
    account,
    list: oneOf(Object.keys(accessLists) as (keyof typeof accessLists)[]),
    entry: text('Id of the entry.'),
    ...actions('list', CHANGES, 'AccessEntry'),
  }),
  ZoneChange: change({
    account,
    zone,
    policy: text('Id of the zone policy.'),
    ...actions('zone', CHANGES, 'ZonePolicy'),
  }),
  ZoneForgotten: change({ account, zone, policy: text('Id of its policy.'), action: oneOf(['zone.forget']) }),
  TokenChange: change({
    token: text('Id of the token.'),
    ...actions('token', ['create', 'revoke'], 'AuditedToken'),
  }),
  KeyChange: change({
    key: text('Id of the API key.'),
    ...actions('key', ['create', 'revoke'], 'GatewayKeyCreation'),
  }),
};

const tokenSchema = closedObject({
  id: text('Identifies the token in the audit log.'),
  status: oneOf(['active']),
  expires_on: Type.Optional(moment()),
});

const currentTokenSchema = closedObject({
  id: text('Identifies the token in the audit log.'),
  label: Type.Optional(text('Label of the token.')),
  permissions: Type.Array(Type.String()),
  all_accounts: Type.Boolean(),
  accounts: Type.Array(Type.String(), { description: 'Empty if the token is for all accounts.' }),
  expires_on: Type.Optional(moment()),
  guarded_account: Type.Optional(text('Account whose DNS this server protects, if the token is for it.')),
});

function success(result: Record<string, TSchema>): TSchema {
  const messages = Type.Array(ref('Entry'), { description: 'Additional information about the result.' });
  return closedObject({
    ...result,
    success: Type.Boolean({ description: 'Always true.' }),
    errors: Type.Array(ref('Entry'), { maxItems: 0 }),
    messages,
  });
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
  ErrorAnswer: closedObject({
    result: alwaysNull(['object', 'null']),
    success: Type.Boolean({ description: 'Always false.' }),
    errors: Type.Array(ref('Entry'), { minItems: 1 }),
    messages: Type.Array(ref('Entry'), { maxItems: 0 }),
  }),
});

export type SchemaName = keyof ReturnType<typeof namedSchemas>;
