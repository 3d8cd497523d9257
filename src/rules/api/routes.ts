import { type AccessListHandlers, accessListRoutes } from './accessListRoutes.ts';
import { successEnvelope } from './envelope.ts';
import type { Route } from './route.ts';
import type { RuleHandlers } from './ruleHandlers.ts';

/** `network` is the path of this interface; `magic` is what today's clients of Cloudflare send. */
const families = ['network', 'magic'] as const;

/** Every operation on rules, lists and tokens. */
export function routesOf(handlers: RuleHandlers, lists: AccessListHandlers): readonly Route[] {
  return [
    ...families.flatMap((family) => ruleRoutes(family, handlers)),
    ...accessListRoutes(lists),
    verifyRoute,
  ];
}

function ruleRoutes(family: (typeof families)[number], handlers: RuleHandlers): Route[] {
  const collection = `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/rules`;
  const single = `${collection}/{rule_id}`;
  const suffix = family === 'network' ? '' : 'Magic';
  return [
    {
      method: 'GET',
      path: collection,
      operationId: `listRules${suffix}`,
      summary: 'List the rules of an account',
      permission: 'dns_protection:read',
      parameters: ['page', 'per_page', 'order', 'direction'],
      answer: 'RuleListAnswer',
      errors: ['notFound', 'invalid'],
      handle: handlers.list,
    },
    {
      method: 'POST',
      path: collection,
      operationId: `createRule${suffix}`,
      summary: 'Create a rule',
      permission: 'dns_protection:write',
      parameters: ['Idempotency-Key'],
      body: 'NewRule',
      answer: 'RuleAnswer',
      errors: ['notFound', 'malformedJson', 'invalid', 'bodyTooLarge', 'tooManyRules', 'keyReused'],
      handle: handlers.create,
    },
    {
      method: 'DELETE',
      path: collection,
      operationId: `deleteRules${suffix}`,
      summary: 'Delete all rules of an account',
      description: 'Without a trailing slash: with one the id of a rule is missing, and nothing is deleted.',
      exactPath: true,
      permission: 'dns_protection:write',
      parameters: ['If-Match: *'],
      answer: 'DoneAnswer',
      errors: ['notFound', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.removeAll,
    },
    {
      method: 'GET',
      path: single,
      operationId: `getRule${suffix}`,
      summary: 'Read one rule',
      permission: 'dns_protection:read',
      answer: 'RuleAnswer',
      errors: ['notFound'],
      handle: handlers.read,
    },
    {
      method: 'PATCH',
      path: single,
      operationId: `updateRule${suffix}`,
      summary: 'Change settings of a rule',
      permission: 'dns_protection:write',
      parameters: ['If-Match'],
      body: 'RulePatch',
      answer: 'RuleAnswer',
      errors: ['notFound', 'malformedJson', 'invalid', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.update,
    },
    {
      method: 'DELETE',
      path: single,
      operationId: `deleteRule${suffix}`,
      summary: 'Delete a rule',
      permission: 'dns_protection:write',
      parameters: ['If-Match'],
      answer: 'DoneAnswer',
      errors: ['notFound', 'bodyTooLarge', 'preconditionFailed'],
      handle: handlers.remove,
    },
    ...analyticsRoute(single, suffix, handlers),
  ];
}

function analyticsRoute(single: string, suffix: string, { analytics }: RuleHandlers): Route[] {
  if (analytics === undefined) return [];
  return [
    {
      method: 'GET',
      path: `${single}/analytics`,
      operationId: `readRuleAnalytics${suffix}`,
      summary: 'What the DNS guard did under a rule, minute by minute, and how it stands',
      permission: 'dns_protection:read',
      parameters: ['since', 'until', 'name', 'type'],
      answer: 'AnalyticsAnswer',
      errors: ['notFound', 'invalid'],
      handle: analytics,
    },
  ];
}

const verifyRoute: Route = {
  method: 'GET',
  path: '/user/tokens/verify',
  operationId: 'verifyToken',
  summary: 'Tell whether the token that is sent is valid',
  answer: 'TokenAnswer',
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
