import Type from 'typebox';
import { accountIdPattern } from '../index.ts';
import { MAX_PER_PAGE, orders } from './paging.ts';
import { MAX_RETRY_KEY_CHARACTERS } from './retryKey.ts';

const anyCase = (word: string) => word.replaceAll(/[A-Z]/g, (letter) => `[${letter}${letter.toLowerCase()}]`);

/** Every parameter that an operation may have beside its body, as OpenAPI describes it; its key is its name, unless it says another. */
export const parameters = {
  account_id: {
    in: 'path',
    required: true,
    description: 'The account that holds the rules.',
    schema: Type.String({ pattern: accountIdPattern, maxLength: 32 }),
  },
  rule_id: {
    in: 'path',
    required: true,
    description: 'The rule; one that is empty or no UUID is answered like one that does not exist.',
    schema: Type.String({ format: 'uuid', minLength: 36, maxLength: 36 }),
  },
  entry_id: {
    in: 'path',
    required: true,
    description: 'The entry; one that is empty or no UUID is answered like one that does not exist.',
    schema: Type.String({ format: 'uuid', minLength: 36, maxLength: 36 }),
  },
  page: {
    in: 'query',
    description: 'Which page, from 1. Past the last page the result is empty.',
    schema: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 1 }),
  },
  per_page: {
    in: 'query',
    description: 'Rules, or entries, on a page.',
    schema: Type.Integer({ minimum: 1, maximum: MAX_PER_PAGE, default: MAX_PER_PAGE }),
  },
  order: {
    in: 'query',
    description: 'The field to order by.',
    schema: Type.Enum([...orders], { type: 'string', default: 'created_on' }),
  },
  direction: {
    in: 'query',
    description: 'ASC or DESC, in either case.',
    schema: Type.String({ pattern: `^(?:${anyCase('ASC')}|${anyCase('DESC')})$`, default: 'ASC' }),
  },
  since: {
    in: 'query',
    description: 'From when on; an hour before `until` where left out. Seven days are kept.',
    schema: Type.String({ format: 'date-time' }),
  },
  until: {
    in: 'query',
    description: 'Up to when; now where left out.',
    schema: Type.String({ format: 'date-time' }),
  },
  name: {
    in: 'query',
    description: 'A domain name: the answer explains what the guard would do with it.',
    schema: Type.String({ maxLength: 1024 }),
  },
  type: {
    in: 'query',
    description: 'The query type to explain `name` with.',
    schema: Type.String({ maxLength: 16, default: 'A' }),
  },
  'Idempotency-Key': {
    in: 'header',
    description: 'The same key and body within 24 hours answers the first result again.',
    schema: Type.String({ pattern: `^[!-~]{1,${MAX_RETRY_KEY_CHARACTERS}}$` }),
  },
  'If-Match': {
    in: 'header',
    description:
      'The ETag of the rule or entry as the caller knows it; where it has changed since, the answer is 412.',
    schema: Type.String(),
  },
  'If-Match: *': {
    name: 'If-Match',
    in: 'header',
    description: 'Only * goes on, as a collection has no ETag; anything else is answered with 412.',
    // Any text: a precondition that fails is no malformed request.
    schema: Type.String(),
  },
} as const;

export type ParameterName = keyof typeof parameters;
