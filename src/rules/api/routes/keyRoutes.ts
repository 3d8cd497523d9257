import type { KeyHandlers } from '../handlers/keyHandlers.ts';
import { successEnvelope } from '../http/envelope.ts';
import type { Route } from './route.ts';

/** Returns the route that describes the gateway. If no gateway runs, the description lists no networks. */
export const gatewayRoute = (keys: KeyHandlers | undefined): Route => ({
  method: 'GET',
  path: '/gateway',
  operationId: 'readGateway',
  summary: 'List the networks of the gateway, and whether it requires a key',
  answer: 'GatewayAnswer',
  handle: keys?.gateway ?? (async () => ({ body: successEnvelope({ networks: [], needs_key: false }) })),
});

/** Returns the route of the operator's names for contracts and addresses. */
export const namesRoute = (handle: Route['handle']): Route => ({
  method: 'GET',
  path: '/gateway/names',
  operationId: 'readNames',
  summary: 'Read the ABIs and labels of `console.abis` and `console.labels`',
  answer: 'NamesAnswer',
  handle,
});

/** Returns the routes of the gateway's API keys. The keys belong to no account. */
export function keyRoutes({ list, create, read, revoke }: KeyHandlers): Route[] {
  const collection = '/gateway/keys';
  const single = `${collection}/{key_id}`;
  const operator = true;
  const description = 'The token must be for all accounts.';
  return [
    {
      method: 'GET',
      path: collection,
      operationId: 'listKeys',
      summary: 'List the API keys of the gateway, including revoked and expired ones',
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
      summary: 'Create an API key of the gateway; its secret is returned only once',
      description: `${description} After the first key was created, the gateway rejects requests without a key.`,
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
      summary: 'Revoke an API key of the gateway permanently, with immediate effect',
      description: `${description} The key remains in the list, and the gateway still requires keys.`,
      permission: 'keys:write',
      operator,
      answer: 'GatewayKeyAnswer',
      errors: ['notFound', 'bodyTooLarge'],
      handle: revoke,
    },
  ];
}
