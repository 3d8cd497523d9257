import type { TokenHandlers } from '../handlers/tokenHandlers.ts';
import type { Route } from './route.ts';

const ACCOUNTS = 'A token is visible only to tokens for all of its accounts.';

/** Returns the routes of tokens, with the paths that user tokens have in Cloudflare's API. */
export function tokenRoutes({ list, create, read, revoke }: TokenHandlers): Route[] {
  const collection = '/user/tokens';
  const single = `${collection}/{token_id}`;
  return [
    {
      method: 'GET',
      path: collection,
      operationId: 'listTokens',
      summary: 'List tokens in order of creation, including revoked and expired ones',
      description: ACCOUNTS,
      permission: 'tokens:read',
      anyAccount: true,
      parameters: ['page', 'per_page'],
      answer: 'ApiTokenListAnswer',
      errors: ['invalid'],
      handle: list,
    },
    {
      method: 'POST',
      path: collection,
      operationId: 'createToken',
      summary: 'Create a token; its secret is returned only once',
      description:
        'The new token cannot exceed the accounts, permissions and expiry of the requesting token. It belongs to the tree of the requesting token, which has at most 100 valid tokens.',
      permission: 'tokens:write',
      anyAccount: true,
      parameters: ['Idempotency-Key of a secret'],
      body: 'ApiTokenCreation',
      answer: 'CreatedApiTokenAnswer',
      errors: ['malformedJson', 'invalid', 'bodyTooLarge', 'tooManyRules', 'keyReused'],
      handle: create,
    },
    {
      method: 'GET',
      path: single,
      operationId: 'getToken',
      summary: 'Read one token, without its secret',
      description: ACCOUNTS,
      permission: 'tokens:read',
      anyAccount: true,
      answer: 'ApiTokenAnswer',
      errors: ['notFound'],
      handle: read,
    },
    {
      method: 'DELETE',
      path: single,
      operationId: 'revokeToken',
      summary: 'Revoke a token and the tokens that it created permanently, with immediate effect',
      description:
        'The token remains in the list until it is one of more than 500 that have ended. A token that allows more than the requesting token cannot be revoked. `messages` lists the tokens that were revoked with it.',
      permission: 'tokens:write',
      anyAccount: true,
      answer: 'ApiTokenAnswer',
      errors: ['notFound', 'bodyTooLarge'],
      handle: revoke,
    },
  ];
}
