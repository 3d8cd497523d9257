import { type AccessListHandlers, accessListRoutes } from './accessListRoutes.ts';
import { successEnvelope } from './envelope.ts';
import type { GuardHandlers } from './guardHandlers.ts';
import { guardRoutes } from './guardRoutes.ts';
import type { KeyHandlers } from './keyHandlers.ts';
import { gatewayRoute, keyRoutes } from './keyRoutes.ts';
import { LIVE_PERMISSION } from './live/liveHandler.ts';
import type { Route } from './route.ts';
import type { RuleHandlers } from './ruleHandlers.ts';
import type { TokenHandlers } from './tokenHandlers.ts';
import { tokenRoutes } from './tokenRoutes.ts';

/** `network` is the path of this interface; `magic` is what today's clients of Cloudflare send. */
const families = ['network', 'magic'] as const;

/** What the operations of the table do. */
export interface Handlers {
  readonly rules: RuleHandlers;
  readonly lists: AccessListHandlers;
  readonly audit: Route['handle'];
  readonly live: Route['handle'];
  readonly tokens: TokenHandlers;
  /** None where no gateway runs beside this API. */
  readonly keys: KeyHandlers | undefined;
  /** None where no guard runs beside this API. */
  readonly guard: GuardHandlers | undefined;
  /** None where nobody tells. */
  readonly health: Route['handle'] | undefined;
  readonly healthHistory: Route['handle'] | undefined;
  /** Whose DNS is guarded beside this API. */
  readonly guardedAccount: string | undefined;
}

/** Every operation on rules, lists and tokens. */
export function routesOf({
  rules,
  lists,
  audit,
  live,
  tokens,
  keys,
  guard,
  health,
  healthHistory,
  guardedAccount,
}: Handlers): readonly Route[] {
  return [
    ...families.flatMap((family) => [
      ...ruleRoutes(family, rules),
      auditRoute(family, audit),
      liveRoute(family, live),
      ...(guard ? guardRoutes(family, guard) : []),
    ]),
    ...accessListRoutes(lists),
    verifyRoute,
    currentTokenRoute(guardedAccount),
    ...tokenRoutes(tokens),
    gatewayRoute(keys),
    ...(keys ? keyRoutes(keys) : []),
    ...(health ? [healthRoute(health)] : []),
    ...(healthHistory ? [healthHistoryRoute(healthHistory)] : []),
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
      parameters: ['page', 'per_page', 'order', 'direction', 'If-None-Match'],
      answer: 'RuleListAnswer',
      errors: ['notFound', 'invalid'],
      isStored: true,
      handle: handlers.list,
    },
    {
      method: 'POST',
      path: collection,
      operationId: `createRule${suffix}`,
      summary: 'Create a rule',
      permission: 'dns_protection:write',
      parameters: ['Idempotency-Key'],
      body: 'RuleCreation',
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
      parameters: ['If-None-Match'],
      answer: 'RuleAnswer',
      errors: ['notFound'],
      isStored: true,
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

function auditRoute(family: (typeof families)[number], audit: Route['handle']): Route {
  return {
    method: 'GET',
    path: `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/audit`,
    operationId: `readAudit${family === 'network' ? '' : 'Magic'}`,
    summary:
      'Who changed which rule or access list of an account, when, from where, before and after; the newest first',
    permission: 'dns_protection:audit',
    parameters: ['audit since', 'audit until', 'audit rule_id', 'audit per_page', 'cursor'],
    answer: 'AuditAnswer',
    errors: ['notFound', 'invalid'],
    isStored: true,
    handle: audit,
  };
}

function liveRoute(family: (typeof families)[number], live: Route['handle']): Route {
  return {
    method: 'GET',
    path: `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/live`,
    operationId: `listen${family === 'network' ? '' : 'Magic'}`,
    summary: 'How things stand, once a second, as Server-Sent Events',
    permission: LIVE_PERMISSION,
    isStream: true,
    handle: live,
  };
}

function analyticsRoute(single: string, suffix: string, { analytics }: RuleHandlers): Route[] {
  if (analytics === undefined) return [];
  return [
    {
      method: 'GET',
      path: `${single}/analytics`,
      operationId: `readRuleAnalytics${suffix}`,
      summary: 'What DNS guards did under a rule, minute by minute and by place, and how the one here stands',
      permission: 'dns_protection:read',
      parameters: ['since', 'until', 'region', 'datacenter', 'name', 'type'],
      answer: 'AnalyticsAnswer',
      errors: ['notFound', 'invalid'],
      handle: analytics,
    },
  ];
}

const healthRoute = (health: Route['handle']): Route => ({
  method: 'GET',
  path: '/health',
  operationId: 'readHealth',
  summary: 'How the server is: nodes, indexes, caches, limits, connections, stores and versions',
  description: 'The token must be one for all accounts.',
  permission: 'health:read',
  operator: true,
  answer: 'HealthAnswer',
  handle: health,
});

const healthHistoryRoute = (health: Route['handle']): Route => ({
  method: 'GET',
  path: '/health/history',
  operationId: 'readHealthHistory',
  summary: 'How the server was in each minute of the last day, the oldest first',
  description: 'The token must be one for all accounts. Counts are those of the minute.',
  permission: 'health:read',
  operator: true,
  answer: 'HealthHistoryAnswer',
  handle: health,
});

const verifyRoute: Route = {
  method: 'GET',
  path: '/user/tokens/verify',
  operationId: 'verifyToken',
  summary: 'Tell whether the token that is sent is valid',
  answer: 'TokenAnswer',
  isStored: true,
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

const currentTokenRoute = (guarded: string | undefined): Route => ({
  method: 'GET',
  path: '/user/tokens/current',
  operationId: 'readCurrentToken',
  summary: 'Tell what the token that is sent allows, for which accounts, and which of them is guarded here',
  answer: 'CurrentTokenAnswer',
  async handle({ caller: { tokenId, label, accounts, permissions, expiresOn } }) {
    const isAll = accounts === 'all';
    const isShown = guarded !== undefined && (isAll || accounts.includes(guarded));
    const result = {
      id: tokenId,
      ...(label !== undefined && { label }),
      permissions,
      all_accounts: isAll,
      accounts: isAll ? [] : accounts,
      ...(expiresOn !== null && { expires_on: expiresOn }),
      ...(isShown && { guarded_account: guarded }),
    };
    return { body: successEnvelope(result) };
  },
});
