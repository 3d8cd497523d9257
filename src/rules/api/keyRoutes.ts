import { successEnvelope } from './envelope.ts';
import type { KeyHandlers } from './keyHandlers.ts';
import type { Route } from './route.ts';

/** The gateway beside this API; it serves no network where there is none. */
export const gatewayRoute = (keys: KeyHandlers | undefined): Route => ({
  method: 'GET',
  path: '/gateway',
  operationId: 'readGateway',
  summary: 'Which networks the gateway serves, and whether it wants a key',
  answer: 'GatewayAnswer',
  handle: keys?.gateway ?? (async () => ({ body: successEnvelope({ networks: [], needs_key: false }) })),
});

/** The API keys of the gateway beside this API. They are of no account. */
export function keyRoutes({ list, create, read, revoke }: KeyHandlers): Route[] {
  const collection = '/gateway/keys';
  const single = `${collection}/{key_id}`;
  const operator = true;
  const description = 'The token must be one for all accounts.';
  return [
    {
      method: 'GET',
      path: collection,
      operationId: 'listKeys',
      summary: 'List the API keys of the gateway, those that were revoked or have expired too',
      description,
      permission: 'keys:read',
      operator,
      parameters: ['page', 'per_page'],
      answer: 'GatewayKeyListAnswer',
      errors: ['invalid'],
      handle: list,
    },
    {
      method: 'POST',
      path: collection,
      operationId: 'createKey',
      summary: 'Create an API key of the gateway, which is shown in the answer and never again',
      description: `${description} The first key closes the gateway to whoever has none.`,
      permission: 'keys:write',
      operator,
      parameters: ['Idempotency-Key of a secret'],
      body: 'GatewayKeyCreation',
      answer: 'CreatedGatewayKeyAnswer',
      errors: ['malformedJson', 'invalid', 'bodyTooLarge', 'tooManyRules', 'keyReused'],
      handle: create,
    },
    {
      method: 'GET',
      path: single,
      operationId: 'getKey',
      summary: 'Read one API key of the gateway, without its secret',
      description,
      permission: 'keys:read',
      operator,
      answer: 'GatewayKeyAnswer',
      errors: ['notFound'],
      handle: read,
    },
    {
      method: 'DELETE',
      path: single,
      operationId: 'revokeKey',
      summary: 'Revoke an API key of the gateway for good, at once',
      description: `${description} The key stays in the list, and the gateway closed.`,
      permission: 'keys:write',
      operator,
      answer: 'GatewayKeyAnswer',
      errors: ['notFound', 'bodyTooLarge'],
      handle: revoke,
    },
  ];
}
