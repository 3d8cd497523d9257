import type { TaggedCollectionHandlers } from '../handlers/collectionHandlers.ts';
import type { GuardHandlers } from '../handlers/guardHandlers.ts';
import type { KeyHandlers } from '../handlers/keyHandlers.ts';
import type { RuleHandlers } from '../handlers/ruleHandlers.ts';
import type { TokenHandlers } from '../handlers/tokenHandlers.ts';
import { successEnvelope } from '../http/envelope.ts';
import { LIVE_PERMISSION } from '../live/liveHandler.ts';
import { type AccessListHandlers, accessListRoutes } from './accessListRoutes.ts';
import { type AlertReports, alertRoutes } from './alertRoutes.ts';
import { collectionRoutes } from './collectionRoutes.ts';
import { guardRoutes } from './guardRoutes.ts';
import { gatewayRoute, keyRoutes, namesRoute } from './keyRoutes.ts';
import type { Route } from './route.ts';
import { tokenRoutes } from './tokenRoutes.ts';
import { zonePolicyRoutes } from './zonePolicyRoutes.ts';

/** Path segment after the account: `network` is Floodgate's, `magic` is what current Cloudflare clients send. */
const families = ['network', 'magic'] as const;

export interface Handlers {
  readonly rules: RuleHandlers;
  readonly lists: AccessListHandlers;
  readonly zonePolicies: TaggedCollectionHandlers;
  readonly audit: Route['handle'];
  readonly live: Route['handle'];
  readonly tokens: TokenHandlers;
  /** Handlers of API keys; undefined if no gateway runs in this server. */
  readonly keys: KeyHandlers | undefined;
  readonly names: Route['handle'];
  /** Handlers of the guard's reports; undefined if no guard runs in this server. */
  readonly guard: GuardHandlers | undefined;
  /** Handler of the server's health; undefined if this server reports no health. */
  readonly health: Route['handle'] | undefined;
  readonly healthHistory: Route['handle'] | undefined;
  readonly alerts: AlertReports | undefined;
  /** Account that the guard in this server protects; undefined if no guard runs. */
  readonly guardedAccount: string | undefined;
}

export function routesOf(handlers: Handlers): readonly Route[] {
  const { rules, zonePolicies, keys, guard, health, healthHistory, alerts } = handlers;
  return [
    ...families.flatMap((family) => [
      ...ruleRoutes(family, rules),
      ...zonePolicyRoutes(family, zonePolicies),
      auditRoute(family, handlers.audit),
      liveRoute(family, handlers.live),
      ...(guard ? guardRoutes(family, guard) : []),
    ]),
    ...accessListRoutes(handlers.lists),
    verifyRoute,
    currentTokenRoute(handlers.guardedAccount),
    ...tokenRoutes(handlers.tokens),
    gatewayRoute(keys),
    namesRoute(handlers.names),
    ...(keys ? keyRoutes(keys) : []),
    ...(health ? [healthRoute(health)] : []),
    ...(alerts ? alertRoutes(alerts) : []),
    ...(healthHistory ? [healthHistoryRoute(healthHistory)] : []),
  ];
}

function ruleRoutes(family: (typeof families)[number], handlers: RuleHandlers): Route[] {
  const collection = `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/rules`;
  const single = `${collection}/{rule_id}`;
  const suffix = family === 'network' ? '' : 'Magic';
  return [
    ...collectionRoutes({
      collection,
      single,
      handlers,
      texts: {
        list: { operationId: `listRules${suffix}`, summary: 'List the rules of an account' },
        create: { operationId: `createRule${suffix}`, summary: 'Create a rule' },
        removeAll: {
          operationId: `deleteRules${suffix}`,
          summary: 'Delete all rules of an account',
          description:
            'Without a trailing slash only: with one, the id of a rule is missing, and nothing is deleted.',
        },
        read: { operationId: `getRule${suffix}`, summary: 'Read one rule' },
        update: { operationId: `updateRule${suffix}`, summary: 'Change settings of a rule' },
        remove: { operationId: `deleteRule${suffix}`, summary: 'Delete a rule' },
      },
      schemas: { creation: 'RuleCreation', patch: 'RulePatch', item: 'RuleAnswer', items: 'RuleListAnswer' },
      listParameters: ['page', 'per_page', 'order', 'direction'],
      creation: { parameters: ['Idempotency-Key'], errors: ['keyReused'] },
    }),
    ...analyticsRoute(single, suffix, handlers),
  ];
}

function auditRoute(family: (typeof families)[number], audit: Route['handle']): Route {
  return {
    method: 'GET',
    path: `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/audit`,
    operationId: `readAudit${family === 'network' ? '' : 'Magic'}`,
    summary: 'Read the audit log of an account, newest first: each change with its author',
    description:
      'Changes of rules, access lists and zone policies; with `tokens:read` also of tokens that are for the account; with `keys:read`, for a token for all accounts, also of API keys.',
    permission: 'dns_protection:audit',
    parameters: ['audit since', 'audit until', 'audit rule_id', 'audit per_page', 'cursor'],
    answer: 'AuditAnswer',
    errors: ['notFound', 'invalid'],
    handle: audit,
  };
}

function liveRoute(family: (typeof families)[number], live: Route['handle']): Route {
  return {
    method: 'GET',
    path: `/accounts/{account_id}/${family}/advanced_dns_protection/configs/dns_protection/live`,
    operationId: `listen${family === 'network' ? '' : 'Magic'}`,
    summary: 'Stream the current state once a second, as Server-Sent Events',
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
      summary:
        'Read how DNS guards enforced a rule, by minute and location, and the status of the guard in this server',
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
  summary: 'Read the health of the server: nodes, indexes, caches, limits, connections, stores and versions',
  description: 'The token must be for all accounts.',
  permission: 'health:read',
  operator: true,
  answer: 'HealthAnswer',
  handle: health,
});

const healthHistoryRoute = (health: Route['handle']): Route => ({
  method: 'GET',
  path: '/health/history',
  operationId: 'readHealthHistory',
  summary: 'Read the health of the server in each minute of the last day, oldest first',
  description: 'The token must be for all accounts. Counts are per minute.',
  permission: 'health:read',
  operator: true,
  answer: 'HealthHistoryAnswer',
  handle: health,
});

const verifyRoute: Route = {
  method: 'GET',
  path: '/user/tokens/verify',
  operationId: 'verifyToken',
  summary: 'Verify the token of the request',
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

const currentTokenRoute = (guarded: string | undefined): Route => ({
  method: 'GET',
  path: '/user/tokens/current',
  operationId: 'readCurrentToken',
  summary: 'Read the permissions and accounts of the token, and the account that this server protects',
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
