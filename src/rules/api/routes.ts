import type { Permission } from '../index.ts';
import { successEnvelope } from './envelope.ts';
import type { ApiAnswer, ApiRequest } from './request.ts';
import type { RuleHandlers } from './ruleHandlers.ts';

/** One operation: from this table come the routes, the `Allow` header and the OpenAPI document. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** In the form of OpenAPI, below the base. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** What the token must allow for the account in the path; none where any valid token will do. */
  readonly permission?: Permission;
  readonly handle: (request: ApiRequest) => Promise<ApiAnswer>;
}

/** `network` is the seed's; `magic` is what today's clients of Cloudflare send. */
const families = ['network', 'magic'] as const;

/** Every operation of the rules API. */
export function routesOf(handlers: RuleHandlers): readonly Route[] {
  return [...families.flatMap((family) => ruleRoutes(family, handlers)), verifyRoute];
}

function ruleRoutes(family: string, handlers: RuleHandlers): Route[] {
  const collection = `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/rules`;
  const single = `${collection}/{rule_id}`;
  const reads = { permission: 'dns_protection:read' } as const;
  const writes = { permission: 'dns_protection:write' } as const;
  const suffix = family === 'network' ? '' : 'Magic';
  return [
    {
      ...{ method: 'GET', path: collection, ...reads, handle: handlers.list },
      ...{ operationId: `listRules${suffix}`, summary: 'List the rules of an account' },
    },
    {
      ...{ method: 'POST', path: collection, ...writes, handle: handlers.create },
      ...{ operationId: `createRule${suffix}`, summary: 'Create a rule' },
    },
    {
      ...{ method: 'DELETE', path: collection, ...writes, handle: handlers.removeAll },
      ...{ operationId: `deleteRules${suffix}`, summary: 'Delete all rules of an account' },
    },
    {
      ...{ method: 'GET', path: single, ...reads, handle: handlers.read },
      ...{ operationId: `getRule${suffix}`, summary: 'Read one rule' },
    },
    {
      ...{ method: 'PATCH', path: single, ...writes, handle: handlers.update },
      ...{ operationId: `updateRule${suffix}`, summary: 'Change settings of a rule' },
    },
    {
      ...{ method: 'DELETE', path: single, ...writes, handle: handlers.remove },
      ...{ operationId: `deleteRule${suffix}`, summary: 'Delete a rule' },
    },
  ];
}

const verifyRoute: Route = {
  method: 'GET',
  path: '/user/tokens/verify',
  operationId: 'verifyToken',
  summary: 'Tell whether the token that is sent is valid',
  async handle({ caller }) {
    const result = {
      id: caller.tokenId,
      status: 'active',
      ...(caller.expiresOn !== null && { expires_on: caller.expiresOn }),
    };
    const messages = [{ code: 10000, message: 'This API Token is valid and active', type: null }];
    return { body: successEnvelope(result, { messages }) };
  },
};
