import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { addressOfSocket, type ClientAddress } from '../../platform/addresses/index.ts';
import type { TrackedResponse } from '../../platform/http/index.ts';
import { beginHttpSpan, type Tracer } from '../../platform/spans/index.ts';
import {
  type AccessListStore,
  type AuditLog,
  type RuleFormat,
  type RuleStore,
  ruleFormat,
  type TokenStore,
  type ZonePolicyStore,
} from '../index.ts';
import { documentationRoutes } from './document/documentation.ts';
import { accessListHandlers } from './handlers/accessListHandlers.ts';
import { auditHandler } from './handlers/auditHandler.ts';
import { type GuardReports, guardHandlers } from './handlers/guardHandlers.ts';
import { type GatewayKeys, keyHandlers } from './handlers/keyHandlers.ts';
import { namesHandler } from './handlers/namesHandler.ts';
import { type RuleAnalytics, ruleHandlers } from './handlers/ruleHandlers.ts';
import { SecretSeeds } from './handlers/secretSeeds.ts';
import { tokenHandlers } from './handlers/tokenHandlers.ts';
import { zonePolicyHandlers } from './handlers/zonePolicyHandlers.ts';
import { Authenticator } from './http/authenticate.ts';
import type { ConsoleSessions } from './http/consoleSessions.ts';
import { successEnvelope } from './http/envelope.ts';
import { asApiError, MAX_BODY_BYTES } from './http/errors.ts';
import { type RateLimit, RateLimiter } from './http/rateLimit.ts';
import { errorSender, unroutedSender } from './http/sendError.ts';
import { TokenUses } from './http/tokenUses.ts';
import { liveHandler } from './live/liveHandler.ts';
import { liveState } from './live/liveState.ts';
import { LiveUpdates } from './live/liveUpdates.ts';
import { addRoutes, type RouteConfig } from './routes/addRoutes.ts';
import type { AlertReports } from './routes/alertRoutes.ts';
import { routesOf } from './routes/routes.ts';

export interface RulesApiOptions {
  readonly rules: RuleStore;
  readonly lists: AccessListStore;
  readonly zonePolicies: ZonePolicyStore;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  /** Counter of token uses, which is stopped with the API. Default: a separate instance. */
  readonly uses?: TokenUses | undefined;
  /** Sessions of the console. Default: requests authenticate by token only. */
  readonly consoleSessions?: ConsoleSessions | undefined;
  /** API keys of the gateway in this server. Default: no key routes. */
  readonly keys?: GatewayKeys | undefined;
  /** Returns names for the console in the form of the schema `Names`. Default: no names. */
  readonly names?: (() => object) | undefined;
  /** Returns the client's address for the audit log. Default: the remote address of the socket. */
  readonly clientAddress?: ClientAddress;
  /** Tokens from `FLOODGATE_API_TOKEN`, which are not stored. Each has all permissions for all accounts. */
  readonly configuredTokens: readonly string[];
  /** Returns the statistics of rules. Default: no route for statistics. */
  readonly analytics?: RuleAnalytics | undefined;
  /** Reports of the guard in this server. Default: no guard, so its routes are missing. */
  readonly guard?: GuardReports | undefined;
  /** Returns the health of the server in the form of the schema `Health`. Default: no health route. */
  readonly health?: (() => Promise<object>) | undefined;
  /** Alerts of the server. Default: no routes of alerts. */
  readonly alerts?: AlertReports | undefined;
  /** Returns the health in each minute of the last day, oldest first, in the form of the schema `HealthMinute`. */
  readonly healthHistory?: (() => readonly object[]) | undefined;
  /** Called for each response with its HTTP status and operation id (`none` if the request matched no operation). */
  readonly answered?: ((operationId: string, status: number) => void) | undefined;
  readonly tracer?: Tracer | undefined;
  readonly format?: RuleFormat;
  /** Returns the age in seconds of the cached data that is used while the store is unavailable; else undefined. */
  readonly staleSeconds?: (() => number | undefined) | undefined;
  readonly rateLimit?: RateLimit | undefined;
}

/** Fastify plugin with the rules API. It must be registered with the base path of the API as prefix. */
export const rulesApi: FastifyPluginAsync<RulesApiOptions> = async (fastify, options) => {
  const {
    format = ruleFormat,
    rules: store,
    lists,
    audit,
    tokens,
    uses = new TokenUses(options.tokens),
    keys,
    consoleSessions: sessions,
    configuredTokens,
    analytics,
    guard,
    health,
    healthHistory,
    alerts,
    clientAddress = addressOfSocket,
  } = options;
  const authenticator = new Authenticator({ configuredTokens }, { tokens, uses, sessions });
  const rules = ruleHandlers({ format, store, analytics });
  const zonePolicies = zonePolicyHandlers(options.zonePolicies);
  const live = new LiveUpdates(
    {},
    {
      source: liveState({ audit, format, guard, rulesTag: rules.tag, zonesTag: zonePolicies.tag }),
      failed(error) {
        if (!asApiError(error)) fastify.log.error({ err: error }, 'request to the rules API failed');
      },
    },
  );
  // The live streams are ended first, because open streams would delay the stop of the server until its timeout.
  fastify.addHook('preClose', async () => live.end());
  fastify.addHook('onClose', () => uses.stop());
  const seeds = new SecretSeeds();
  const operations = routesOf({
    rules,
    zonePolicies,
    names: namesHandler(options.names),
    tokens: tokenHandlers({ tokens, uses, seeds }),
    keys: keys && keyHandlers(keys, seeds),
    live: liveHandler(live, authenticator),
    lists: accessListHandlers(lists),
    audit: auditHandler({ audit, tokens, keys, format }),
    guard:
      guard &&
      guardHandlers(guard, {
        audit,
        zoneOf: async (account, id) => (await options.zonePolicies.get(account, id))?.zone,
      }),
    guardedAccount: guard?.accountId,
    alerts,
    health: health && (async () => ({ body: successEnvelope(await health()) })),
    healthHistory: healthHistory && (async () => ({ body: successEnvelope(healthHistory()) })),
  });
  const routes = [...operations, ...documentationRoutes(operations, fastify.prefix, format)];

  readBodiesAsBytes(fastify);
  // Requests share one logger, because a logger per request costs more than the response. Log lines include the
  // request id.
  fastify.setChildLoggerFactory((logger) => logger);
  const sendError = errorSender(({ rulesCaller }) => {
    if (rulesCaller) uses.countRejected(rulesCaller.tokenId);
  });
  const sendUnrouted = unroutedSender(routes, fastify.prefix);
  fastify.setNotFoundHandler(sendUnrouted);
  // A request without a route gets 404 or 405 even if its body is invalid.
  fastify.setErrorHandler((error, request, reply) =>
    request.is404 ? sendUnrouted(request, reply) : sendError(error, request, reply),
  );

  const { answered, tracer } = options;
  if (tracer)
    fastify.addHook('onRequest', ({ routeOptions }, { raw }, done) => {
      // The HTTP server creates responses of this class, but Fastify's types do not express that.
      beginHttpSpan(tracer, raw as unknown as TrackedResponse, routeOptions.url);
      done();
    });
  // The hook calls `done`, because an async hook would cost as much as a small response.
  if (answered)
    fastify.addHook('onResponse', ({ routeOptions }, { statusCode }, done) => {
      answered((routeOptions.config as RouteConfig).operationId ?? 'none', statusCode);
      done();
    });

  addRoutes(fastify, routes, {
    authenticator,
    rateLimiter: options.rateLimit && new RateLimiter(options.rateLimit),
    clientAddress,
    staleSeconds: options.staleSeconds,
  });
};

/** Bodies are read as bytes. Handlers parse them as JSON, regardless of their content type. */
function readBodiesAsBytes(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    (_request, body, done) => done(null, body),
  );
}
