import Type from 'typebox';
import { accountIdPattern } from '../index.ts';
import { cursorPattern, DEFAULT_AUDIT_PAGE, MAX_AUDIT_PAGE } from './auditHandler.ts';
import { EXAMPLE_ATTACK_ID, EXAMPLE_ENTRY_ID, EXAMPLE_RULE_ID } from './examples.ts';
import { DEFAULT_ATTACKS_PER_PAGE, MAX_ATTACKS_PER_PAGE } from './guardHandlers.ts';
import { MAX_PER_PAGE, orders } from './paging.ts';
import { MAX_RETRY_KEY_CHARACTERS } from './retryKey.ts';
import { EXAMPLE_TOKEN_ID } from './tokenSchemas.ts';

const anyCase = (word: string) => word.replaceAll(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);

/** Every parameter that an operation may have beside its body, as OpenAPI describes it; its key is its name, unless it says another. */
export const parameters = {
  account_id: {
    in: 'path',
    required: true,
    description: 'The account that holds the rules.',
    example: '0123abcd',
    schema: Type.String({ pattern: accountIdPattern, maxLength: 32 }),
  },
  rule_id: {
    in: 'path',
    required: true,
    description: 'The rule; one that is empty or no UUID is answered like one that does not exist.',
    example: EXAMPLE_RULE_ID,
    schema: Type.String({ format: 'uuid', minLength: 36, maxLength: 36 }),
  },
  entry_id: {
    in: 'path',
    required: true,
    description: 'The entry; one that is empty or no UUID is answered like one that does not exist.',
    example: EXAMPLE_ENTRY_ID,
    schema: Type.String({ format: 'uuid', minLength: 36, maxLength: 36 }),
  },
  attack_id: {
    in: 'path',
    required: true,
    description: 'The attack; one that is empty or no UUID is answered like one that does not exist.',
    example: EXAMPLE_ATTACK_ID,
    schema: Type.String({ format: 'uuid', minLength: 36, maxLength: 36 }),
  },
  token_id: {
    in: 'path',
    required: true,
    description: 'The token; what is no id of one is answered like one that does not exist.',
    example: EXAMPLE_TOKEN_ID,
    schema: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  },
  key_id: {
    in: 'path',
    required: true,
    description: 'The key; what is no id of one is answered like one that does not exist.',
    example: '3f6d1a2b',
    schema: Type.String({ pattern: '^[0-9a-f]{8}$' }),
  },
  page: {
    in: 'query',
    description: 'Which page, from 1. Past the last page the result is empty.',
    example: 1,
    schema: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 }),
  },
  per_page: {
    in: 'query',
    description: 'Rules, entries, tokens or keys on a page.',
    example: 100,
    schema: Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE, default: MAX_PER_PAGE }),
  },
  order: {
    in: 'query',
    description:
      'The field to order by; prefix, which Cloudflare’s clients know and rules do not have, is like created_on.',
    example: 'created_on',
    schema: Type.Enum([...orders, 'prefix'], { type: 'string', default: 'created_on' }),
  },
  direction: {
    in: 'query',
    description: 'ASC or DESC, in either case.',
    example: 'ASC',
    schema: Type.String({ pattern: `^(?:${anyCase('ASC')}|${anyCase('DESC')})$`, default: 'ASC' }),
  },
  since: {
    in: 'query',
    description: 'From when on; an hour before `until` where left out. Seven days are kept.',
    example: '2026-11-20T00:00:00Z',
    schema: Type.String({ format: 'date-time' }),
  },
  until: {
    in: 'query',
    description: 'Up to when; now where left out.',
    example: '2026-11-21T00:00:00Z',
    schema: Type.String({ format: 'date-time' }),
  },
  name: {
    in: 'query',
    description: 'A domain name: the answer explains what the guard would do with it.',
    example: 'www.example.com',
    schema: Type.String({ maxLength: 1024 }),
  },
  type: {
    in: 'query',
    description: 'The query type to explain `name` with.',
    example: 'A',
    schema: Type.String({ maxLength: 16, default: 'A' }),
  },
  region: {
    in: 'query',
    description: 'Only what guards in this region tell.',
    example: 'WNAM',
    schema: Type.String({ maxLength: 256 }),
  },
  datacenter: {
    in: 'query',
    description: 'Only what guards in this datacenter tell.',
    example: 'SJC',
    schema: Type.String({ maxLength: 256 }),
  },
  'audit since': {
    name: 'since',
    in: 'query',
    description: 'Only changes from then on.',
    example: '2026-11-20T00:00:00Z',
    schema: Type.String({ format: 'date-time' }),
  },
  'audit until': {
    name: 'until',
    in: 'query',
    description: 'Only changes up to then.',
    example: '2026-11-21T00:00:00Z',
    schema: Type.String({ format: 'date-time' }),
  },
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
    description: 'The most changes on a page. There may be fewer, or none, where many are looked through.',
    example: 100,
    schema: Type.Integer({ minimum: 1, maximum: MAX_AUDIT_PAGE, default: DEFAULT_AUDIT_PAGE }),
  },
  'attacks per_page': {
    name: 'per_page',
    in: 'query',
    description: 'Attacks on a page.',
    example: 10,
    schema: Type.Integer({ minimum: 1, maximum: MAX_ATTACKS_PER_PAGE, default: DEFAULT_ATTACKS_PER_PAGE }),
  },
  'attacks since': {
    name: 'since',
    in: 'query',
    description: 'Only attacks that began from then on.',
    example: '2026-11-20T00:00:00Z',
    schema: Type.String({ format: 'date-time' }),
  },
  'attacks until': {
    name: 'until',
    in: 'query',
    description: 'Only attacks that began before then.',
    example: '2026-11-21T00:00:00Z',
    schema: Type.String({ format: 'date-time' }),
  },
  cursor: {
    in: 'query',
    description: 'From `result_info` of the page before.',
    example: 'jyxt1c3xnc',
    schema: Type.String({ pattern: cursorPattern }),
  },
  'Idempotency-Key': {
    in: 'header',
    description: 'The same key and body within 24 hours answers the first result again.',
    example: '3a4ad5b0-34ea-4d87-bc5e-54a1e7d4d1ad',
    schema: Type.String({ pattern: `^[!-~]{1,${MAX_RETRY_KEY_CHARACTERS}}$` }),
  },
  'Idempotency-Key of a secret': {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same key and body from the same token answer the first result again, with its secret, until the server is started anew.',
    example: '3a4ad5b0-34ea-4d87-bc5e-54a1e7d4d1ad',
    schema: Type.String({ pattern: `^[!-~]{1,${MAX_RETRY_KEY_CHARACTERS}}$` }),
  },
  'If-None-Match': {
    in: 'header',
    description:
      'The ETag of what the caller has; where that is still so, the answer is 304 and has no body.',
    example: '"jyxt1c3xnc"',
    schema: Type.String(),
  },
  'If-Match': {
    in: 'header',
    description:
      'The ETag of the rule or entry as the caller knows it; where it has changed since, the answer is 412.',
    example: '"jyxt1c3xnc"',
    schema: Type.String(),
  },
  'If-Match: *': {
    name: 'If-Match',
    in: 'header',
    description: 'Only * goes on, as a collection has no ETag; anything else is answered with 412.',
    // Any text: a precondition that fails is no malformed request.
    example: '*',
    schema: Type.String(),
  },
} as const;

export type ParameterName = keyof typeof parameters;
