import type { IncomingMessage } from 'node:http';
import type { FastifyPluginAsync } from 'fastify';
import type { TrackedResponse } from '../../platform/http/index.ts';
import { beginHttpSpan, type Tracer } from '../../platform/spans/index.ts';
import {
  type AccessListStore,
  type AuditLog,
  type RuleFormat,
  type RuleStore,
  ruleFormat,
  type TokenStore,
} from '../index.ts';
import { accessListHandlers } from './accessListHandlers.ts';
import { addRoutes, type RouteConfig } from './addRoutes.ts';
import { auditHandler } from './auditHandler.ts';
import { Authenticator } from './authenticate.ts';
import { documentationRoutes } from './documentation.ts';
import { successEnvelope } from './envelope.ts';
import { asApiError, MAX_BODY_BYTES } from './errors.ts';
import { type GuardReports, guardHandlers } from './guardHandlers.ts';
import { type GatewayKeys, keyHandlers } from './keyHandlers.ts';
import { liveHandler } from './live/liveHandler.ts';
import { liveState } from './live/liveState.ts';
import { LiveUpdates } from './live/liveUpdates.ts';
import { type RateLimit, RateLimiter } from './rateLimit.ts';
import { routesOf } from './routes.ts';
import { type RuleAnalytics, ruleHandlers } from './ruleHandlers.ts';
import { SecretSeeds } from './secretSeeds.ts';
import { errorSender, unroutedSender } from './sendError.ts';
import { tokenHandlers } from './tokenHandlers.ts';
import { TokenUses } from './tokenUses.ts';

export interface RulesApiOptions {
  readonly rules: RuleStore;
  readonly lists: AccessListStore;
  readonly tokens: TokenStore;
  readonly audit: AuditLog;
  /** Hears of each use of a token, and is stopped with the API; one of its own where left out. */
  readonly uses?: TokenUses | undefined;
  /** The API keys of the gateway beside this API; no such routes where there is none. */
  readonly keys?: GatewayKeys | undefined;
  /** The address of a request's client, for the audit; its socket's where left out. */
  readonly clientAddress?: (request: IncomingMessage) => string;
  /** Tokens from the configuration (`FLOODGATE_API_TOKEN`), none of which the store knows: each may do anything for every account. */
  readonly configuredTokens: readonly string[];
  /** What the guard beside this API saw; no such route where there is none. */
  readonly analytics?: RuleAnalytics | undefined;
  /** What that guard tells of itself. */
  readonly guard?: GuardReports | undefined;
  /** How the server is, in the form of the schema `Health`; no such route where left out. */
  readonly health?: (() => Promise<object>) | undefined;
  /** How it was in each minute of the last day, the oldest first, in the form of the schema `HealthMinute`. */
  readonly healthHistory?: (() => readonly object[]) | undefined;
  /** Hears of each answer: the operation's id, `none` where no operation was asked for, and the status. */
  readonly answered?: ((operationId: string, status: number) => void) | undefined;
  /** Left out: nothing is traced. */
  readonly tracer?: Tracer | undefined;
  /** The fields that rules have. */
  readonly format?: RuleFormat;
  /** How old what is answered may be, in seconds, while the store is away; undefined while it is not. */
  readonly staleSeconds?: (() => number | undefined) | undefined;
  /** Off where left out. */
  readonly rateLimit?: RateLimit | undefined;
  /** Only what the store alone answers is served, and whatever else is asked for left to the listener's own handler. */
  readonly isReader?: boolean;
}

/** The rules API as a fastify plugin, to be registered with the base path as its prefix. */
export const rulesApi: FastifyPluginAsync<RulesApiOptions> = async (fastify, options) => {
  const {
    format = ruleFormat,
    rules: store,
    lists,
    audit,
    tokens,
    uses = new TokenUses(options.tokens),
    keys,
    configuredTokens,
    analytics,
    guard,
    health,
    healthHistory,
    clientAddress = addressOfSocket,
  } = options;
  const authenticator = new Authenticator({ configuredTokens }, { tokens, uses });
  const rules = ruleHandlers({ format, store, analytics });
  const live = new LiveUpdates(
    {},
    {
      source: liveState({ audit, format, guard, rulesTag: rules.tag }),
      failed(error) {
        if (!asApiError(error)) fastify.log.error({ err: error }, 'a request to the rules API failed');
      },
    },
  );
  // Streams would hold up a stop for as long as it may take.
  fastify.addHook('preClose', async () => live.end());
  fastify.addHook('onClose', () => uses.stop());
  const seeds = new SecretSeeds();
  const all = routesOf({
    rules,
    tokens: tokenHandlers({ tokens, uses, seeds }),
    keys: keys && keyHandlers(keys, seeds),
    live: liveHandler(live, authenticator),
    lists: accessListHandlers(lists),
    audit: auditHandler(audit, format),
    guard: guard && guardHandlers(guard),
    guardedAccount: guard?.accountId,
    health: health && (async () => ({ body: successEnvelope(await health()) })),
    healthHistory: healthHistory && (async () => ({ body: successEnvelope(healthHistory()) })),
  });
  const operations = options.isReader === true ? all.filter(({ isStored }) => isStored) : all;
  const routes =
    options.isReader === true
      ? operations
      : [...operations, ...documentationRoutes(operations, fastify.prefix, format)];

  // Every body is taken as bytes and read as JSON by its handler, whatever its type says.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    (_request, body, done) => done(null, body),
  );
  // Lines that are logged here name the request themselves; a logger for each request costs more than the answer.
  fastify.setChildLoggerFactory((logger) => logger);
  const sendError = errorSender();
  const sendUnrouted = unroutedSender(routes, fastify.prefix);
  if (options.isReader !== true) fastify.setNotFoundHandler(sendUnrouted);
  // What goes wrong with the body of a request that no route takes does not change its answer.
  fastify.setErrorHandler((error, request, reply) =>
    request.is404 ? sendUnrouted(request, reply) : sendError(error, request, reply),
  );

  const { answered, tracer } = options;
  if (tracer)
    fastify.addHook('onRequest', ({ routeOptions }, { raw }, done) => {
      // The listener's responses are these; its types do not tell.
      beginHttpSpan(tracer, raw as unknown as TrackedResponse, routeOptions.url);
      done();
    });
  // In callback style: waiting for a promise would cost as much as a small answer.
  if (answered)
    fastify.addHook('onResponse', ({ routeOptions }, { statusCode }, done) => {
      answered((routeOptions.config as RouteConfig).operationId ?? 'none', statusCode);
      done();
    });

  addRoutes(fastify, routes, {
    ...{ authenticator, uses },
    rateLimiter: options.rateLimit && new RateLimiter(options.rateLimit),
    clientAddress,
    staleSeconds: options.staleSeconds,
  });
};

const addressOfSocket = ({ socket }: IncomingMessage): string => socket.remoteAddress ?? '';
