import type { Route } from './route.ts';
import type { TokenHandlers } from './tokenHandlers.ts';

const ACCOUNTS = 'Tokens are seen by those for all of the accounts that they are for.';

/** Cloudflare's paths of a user's tokens. */
export function tokenRoutes({ list, create, read, revoke }: TokenHandlers): Route[] {
  const collection = '/user/tokens';
  const single = `${collection}/{token_id}`;
  return [
    {
      method: 'GET',
      path: collection,
      operationId: 'listTokens',
      summary: 'List tokens, those that were revoked or have expired too, in the order of their creation',
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
      summary: 'Create a token, which is shown in the answer and never again',
      description:
        'It is for no other accounts, allows nothing more and lives no longer than the token that asks.',
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
      summary: 'Revoke a token for good, at once',
      description:
        'It stays in the list. A token that allows more than the one that asks cannot be revoked. `messages` names those that it made and that are still valid.',
      permission: 'tokens:write',
      anyAccount: true,
      answer: 'ApiTokenAnswer',
      errors: ['notFound', 'bodyTooLarge'],
      handle: revoke,
    },
  ];
}
