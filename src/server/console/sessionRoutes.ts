import type {
  FastifyError,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from 'fastify';
import { type ClientAddress, clientKey } from '../../platform/addresses/index.ts';
import { Budget } from '../../platform/budgets/index.ts';
import {
  ApiError,
  Authenticator,
  type AuthenticatorDependencies,
  type Caller,
  type ConsoleSessions,
  errorSender,
  isVisibleTo,
  revocationFaults,
  SESSION_LIFE_SECONDS,
  tokenOf,
} from '../../rules/api/index.ts';
import {
  formatTimestamp,
  includesPermission,
  isValidAt,
  type Permission,
  type Session,
  type Token,
  wallClock,
} from '../../rules/index.ts';

export interface SessionRoutesOptions extends AuthenticatorDependencies {
  readonly sessions: ConsoleSessions;
  readonly configuredTokens: readonly string[];
  readonly clientAddress: ClientAddress;
}

const MAX_BODY_BYTES = 1_000;
/** An attempt to sign in counts for this time. */
const ATTEMPT_MS = 60_000;
/** A user signs in about once a day; users behind a proxy that is not trusted count as one client. */
const ATTEMPTS = { total: 10_000, perClient: 20 };

/** Serves sign-in, sign-out, the list of sessions and sign-in links, as a fastify plugin with the prefix `/console`. */
export const sessionRoutes: FastifyPluginAsync<SessionRoutesOptions> = async (fastify, options) => {
  const { sessions, tokens, configuredTokens, clientAddress } = options;
  const authenticator = new Authenticator({ configuredTokens }, options);
  const { cookies } = sessions;
  const attempts = new Budget(ATTEMPTS);
  // Only JSON is accepted, so that pages of other origins would need a CORS preflight, which fails.
  fastify.removeContentTypeParser('text/plain');
  const sendError = errorSender();
  fastify.setErrorHandler<FastifyError>((error, request, reply) => {
    const { statusCode = 500 } = error; // set by fastify for bodies that it cannot read
    if (statusCode >= 500) return sendError(error, request, reply);
    return reply.code(statusCode).send({ error: error.message });
  });
  fastify.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });

  /** Returns the caller of a request with a session, its secret and the session. Throws `unauthenticated`. */
  const signedIn = async ({ raw }: FastifyRequest) => {
    const credentials = authenticator.credentialsOf(raw);
    const caller = await authenticator.authenticateAgain(credentials, raw);
    const { session: secret } = credentials;
    const session = secret === undefined ? undefined : await sessions.find(secret);
    if (secret === undefined || session === undefined) throw new ApiError('unauthenticated');
    return { caller, secret, session };
  };

  const tokenIn = async ({ raw, body }: FastifyRequest): Promise<Session['token'] | undefined> => {
    const { token, code } = (body ?? {}) as { token?: unknown; code?: unknown };
    if (typeof code === 'string') return sessions.takeLink(code);
    if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) return undefined;
    return tokenOf(await authenticator.authenticate({ authorization: `Bearer ${token}` }, raw));
  };

  fastify.post('/sign-in', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const { raw } = request;
    if (!cookies.isFromConsole(raw)) throw new ApiError('forbidden', { message: NOT_FROM_CONSOLE });
    countAttempt(attempts, clientAddress(raw));
    const token = await tokenIn(request);
    if (token === undefined)
      throw new ApiError('forbidden', {
        message: 'the sign-in code is wrong, already used or older than ten minutes',
      });
    const { session: old } = authenticator.credentialsOf(raw);
    if (old !== undefined) await sessions.end(old);
    const secret = await sessions.open(token, clientAddress(raw));
    return reply.header('set-cookie', cookies.cookie(raw, secret, SESSION_LIFE_SECONDS)).send({});
  });

  fastify.get('/session', async (request, reply) => {
    const found = await signedIn(request).catch(ifSignedOut);
    if (found === undefined) return reply.send({ signed_in: false });
    const { key, expires_on } = found.session;
    return reply.send({ signed_in: true, expires_on, has_key: key !== undefined });
  });

  fastify.delete('/session', async (request, reply) => {
    const found = await signedIn(request).catch(ifSignedOut);
    if (found !== undefined) await sessions.end(found.secret);
    return reply.header('set-cookie', cookies.cookie(request.raw, '', 0)).send({});
  });

  fastify.put('/session/key', { bodyLimit: MAX_BODY_BYTES }, async (request, reply) => {
    const { secret } = await signedIn(request);
    const { key } = (request.body ?? {}) as { key?: unknown };
    if (key !== null && !(typeof key === 'string' && /^[\x21-\x7e]{1,500}$/.test(key)))
      throw new ApiError('invalid', { message: 'key must be an API key of the gateway, or null' });
    await sessions.setKey(secret, key ?? undefined);
    return reply.send({});
  });

  fastify.post('/links', { bodyLimit: MAX_BODY_BYTES }, async ({ raw }, reply) => {
    // A session cannot create a link, because a link would prolong it.
    const caller = await authenticator.authenticate({ authorization: raw.headers.authorization }, raw);
    return reply.send({ code: await sessions.newLink(tokenOf(caller), clientAddress(raw)) });
  });

  addList(fastify, { sessions, tokens, signedIn });
};

interface ListParts extends Pick<SessionRoutesOptions, 'sessions' | 'tokens'> {
  readonly signedIn: (request: FastifyRequest) => Promise<{ caller: Caller; session: Session }>;
}

/**
 * Adds the routes that list and end sessions. A caller has access to the sessions of its own token, and with the
 * permission to those of the tokens that it may see or revoke.
 */
function addList(fastify: FastifyInstance, { sessions, tokens, signedIn }: ListParts): void {
  const visible = async (caller: Caller, permission: Permission, isAllowed: (token: Token) => boolean) => {
    const byId = new Map((await tokens.list()).map((token) => [token.id, token]));
    const mayAll = includesPermission(caller.permissions, permission);
    const now = formatTimestamp(wallClock());
    return (await sessions.list()).flatMap((session) => {
      const token = byId.get(session.token.id);
      // The session ended with its token.
      if (token !== undefined && !isValidAt(token, now)) return [];
      const isOwn = session.token.id === caller.tokenId;
      const isSeen =
        mayAll && isVisibleTo(caller, token ?? CONFIGURED) && (token === undefined || isAllowed(token));
      return isOwn || isSeen ? [{ session, label: token?.label }] : [];
    });
  };

  fastify.get('/sessions', async (request, reply) => {
    const { caller, session: own } = await signedIn(request);
    const listed = await visible(caller, 'tokens:read', () => true);
    return reply.send({
      result: listed.map(({ session: { hash, token, created_on, expires_on, from }, label }) => ({
        id: hash,
        token_id: token.id,
        label,
        created_on,
        expires_on,
        from,
        is_current: hash === own.hash,
      })),
    });
  });

  fastify.delete('/sessions/:id', async (request, reply: FastifyReply) => {
    const { caller } = await signedIn(request);
    const { id } = request.params as { id: string }; // the parameter of the route
    const listed = await visible(
      caller,
      'tokens:write',
      (token) => revocationFaults(caller, token).length === 0,
    );
    if (!listed.some(({ session }) => session.hash === id)) throw new ApiError('notFound');
    await sessions.remove(id);
    return reply.send({});
  });
}

/** Stands for a token from the configuration, which is for all accounts and not in the store. */
const CONFIGURED: Pick<Token, 'accounts'> = { accounts: 'all' };

const NOT_FROM_CONSOLE =
  'only the console of this origin may sign in. Behind a TLS proxy, list it in http.trustedProxies and let it send X-Forwarded-Proto';

function ifSignedOut(error: unknown): undefined {
  if (error instanceof ApiError && error.status < 500) return undefined;
  throw error;
}

/** Counts an attempt to sign in. Throws `rateLimited` above the limit. Clients without an address count only in all. */
function countAttempt(attempts: Budget, address: ReturnType<ClientAddress>): void {
  const client = { address: clientKey(address) };
  const isFull =
    address === '' ? attempts.total >= ATTEMPTS.total : attempts.exceededBy(client, 1) !== undefined;
  if (isFull)
    throw new ApiError('rateLimited', {
      message: `more than ${ATTEMPTS.perClient} attempts to sign in within a minute; wait a minute`,
      headers: { 'retry-after': String(ATTEMPT_MS / 1_000) },
    });
  attempts.charge(client, 1);
  setTimeout(() => attempts.release(client, 1), ATTEMPT_MS).unref();
}
