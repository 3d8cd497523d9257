import Type from 'typebox';
import { accountIdPattern, MAX_NAME_CHARACTERS, MAX_ZONE_CHARACTERS } from '../../index.ts';
import { cursorPattern, DEFAULT_AUDIT_PAGE, MAX_AUDIT_PAGE } from '../handlers/auditHandler.ts';
import { DEFAULT_ATTACKS_PER_PAGE, MAX_ATTACKS_PER_PAGE } from '../handlers/guardHandlers.ts';
import { MAX_RETRY_KEY_CHARACTERS } from '../handlers/retryKey.ts';
import { MAX_PER_PAGE, ruleOrders, zoneOrders } from '../http/paging.ts';
import { EXAMPLE_RULE_ID } from './examples.ts';

const anyCase = (word: string) => word.replaceAll(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);

const uuidOf = (what: string, example: string) =>
  ({
    in: 'path',
    required: true,
    description: `Id of the ${what}. An id that is empty or not a UUID is treated as unknown.`,
    example,
    schema: Type.String({ format: 'uuid', minLength: 36, maxLength: 36 }),
  }) as const;

const timeOf = (name: string, description: string) =>
  ({
    name,
    in: 'query',
    description,
    example: name === 'until' ? '2026-11-21T00:00:00Z' : '2026-11-20T00:00:00Z',
    schema: Type.String({ format: 'date-time' }),
  }) as const;

const retryKeyOf = (repetition: string) =>
  ({
    name: 'Idempotency-Key',
    in: 'header',
    example: '3a4ad5b0-34ea-4d87-bc5e-54a1e7d4d1ad',
    description: `Key of the request. A repetition by the same token with the same key and body ${repetition}`,
    schema: Type.String({ pattern: `^[!-~]{1,${MAX_RETRY_KEY_CHARACTERS}}$` }),
  }) as const;

/** OpenAPI parameters by name. A parameter whose name is not unique sets `name`. */
export const parameters = {
  account_id: {
    in: 'path',
    required: true,
    description: 'Account of the rules.',
    example: '0123abcd',
    schema: Type.String({ pattern: accountIdPattern, maxLength: 32 }),
  },
  rule_id: uuidOf('rule', EXAMPLE_RULE_ID),
  entry_id: uuidOf('entry', '8f14e45f-ceea-467f-9a0c-1d2e3f4a5b6c'),
  zone_id: uuidOf('zone policy', '0b9c9d5e-7d0a-4a55-8f0e-3f1f6f0f2a11'),
  attack_id: uuidOf('attack', 'b3a1c5de-0f4b-4c1e-9a66-6f1d2c3b4a5e'),
  token_id: {
    in: 'path',
    required: true,
    description: 'Id of the token. An invalid id is treated as unknown.',
    example: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    schema: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  },
  key_id: {
    in: 'path',
    required: true,
    description: 'Id of the key. An invalid id is treated as unknown.',
    example: '3f6d1a2b',
    schema: Type.String({ pattern: '^[0-9a-f]{8}$' }),
  },
  page: {
    in: 'query',
    description: 'Page number, from 1. After the last page the result is empty.',
    example: 1,
    schema: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 }),
  },
  per_page: {
    in: 'query',
    description: 'Maximum number of rules, entries, zone policies, tokens or keys per page.',
    example: 100,
    schema: Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE, default: MAX_PER_PAGE }),
  },
  order: {
    in: 'query',
    description:
      'Field to order by. `prefix`, the default of Cloudflare’s clients, means created_on, because rules have no such field.',
    example: 'created_on',
    schema: Type.Enum([...ruleOrders, 'prefix'], { type: 'string', default: 'created_on' }),
  },
  'zones order': {
    name: 'order',
    in: 'query',
    description: 'Field to order by.',
    example: 'zone',
    schema: Type.Enum([...zoneOrders], { type: 'string', default: 'created_on' }),
  },
  direction: {
    in: 'query',
    description: 'ASC or DESC; not case-sensitive.',
    example: 'ASC',
    schema: Type.String({ pattern: `^(?:${anyCase('ASC')}|${anyCase('DESC')})$`, default: 'ASC' }),
  },
  since: timeOf(
    'since',
    'Start of the period. Default: one hour before `until`. Data is kept for seven days.',
  ),
  until: timeOf('until', 'End of the period. Default: now.'),
  name: {
    in: 'query',
    description: 'Domain name for which the response explains the verdict of the guard.',
    example: 'www.example.com',
    schema: Type.String({ maxLength: 1024 }),
  },
  zone: {
    in: 'query',
    description: 'Only this zone; `.` for all names outside of every known zone.',
    example: 'example.com',
    schema: Type.String({ minLength: 1, maxLength: MAX_ZONE_CHARACTERS }),
  },
  type: {
    in: 'query',
    description: 'Query type of the explanation for `name`.',
    example: 'A',
    schema: Type.String({ maxLength: 16, default: 'A' }),
  },
  region: {
    in: 'query',
    description: 'Only data of guards in this region.',
    example: 'WNAM',
    schema: Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS }),
  },
  datacenter: {
    in: 'query',
    description: 'Only data of guards in this datacenter.',
    example: 'SJC',
    schema: Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS }),
  },
  'audit since': timeOf('since', 'Only changes at or after this time.'),
  'audit until': timeOf('until', 'Only changes at or before this time.'),
  'audit rule_id': {
    name: 'rule_id',
    in: 'query',
    description: 'Only changes of this rule.',
    example: EXAMPLE_RULE_ID,
    schema: Type.String({ format: 'uuid', minLength: 36, maxLength: 36 }),
  },
  'audit per_page': {
    name: 'per_page',
    in: 'query',
    description:
      'Maximum number of changes per page. A page may contain fewer, or none, if the search had to skip many changes.',
    example: 100,
    schema: Type.Integer({ minimum: 1, maximum: MAX_AUDIT_PAGE, default: DEFAULT_AUDIT_PAGE }),
  },
  'attacks per_page': {
    name: 'per_page',
    in: 'query',
    description: 'Maximum number of attacks per page.',
    example: 10,
    schema: Type.Integer({ minimum: 1, maximum: MAX_ATTACKS_PER_PAGE, default: DEFAULT_ATTACKS_PER_PAGE }),
  },
  'attacks since': timeOf('since', 'Only attacks that started at or after this time.'),
  'attacks until': timeOf('until', 'Only attacks that started before this time.'),
  'samples at': {
    ...timeOf('at', 'Time within the second. Samples are kept for ten minutes.'),
    required: true,
  },
  cursor: {
    in: 'query',
    description: '`cursor` from the `result_info` of the previous page.',
    example: 'jyxt1c3xnc',
    schema: Type.String({ pattern: cursorPattern }),
  },
  'Idempotency-Key': retryKeyOf('within 24 hours returns the first result.'),
  'Idempotency-Key of a secret': retryKeyOf(
    'returns the first result with its secret, until the server restarts.',
  ),
  'If-None-Match': {
    in: 'header',
    description:
      'ETag of the version that the client has. If it is current, the response is 304 without a body.',
    example: '"jyxt1c3xnc"',
    schema: Type.String(),
  },
  'If-Match': {
    in: 'header',
    description:
      'ETag of the version that the client knows. If the rule, entry or zone policy has changed, the response is 412.',
    example: '"jyxt1c3xnc"',
    schema: Type.String(),
  },
  'If-Match: *': {
    name: 'If-Match',
    in: 'header',
    description: 'Only * is accepted, because a collection has no ETag; any other value returns 412.',
    // The schema allows any string, because a failed precondition must return 412 and not 400.
    example: '*',
    schema: Type.String(),
  },
} as const;

export type ParameterName = keyof typeof parameters;
