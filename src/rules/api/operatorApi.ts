import type { FastifyPluginAsync } from 'fastify';
import type { Permission, TokenStore } from '../index.ts';
import { Authenticator, authorizeOperator } from './http/authenticate.ts';
import type { ConsoleSessions } from './http/consoleSessions.ts';
import { successEnvelope } from './http/envelope.ts';
import { ApiError, MAX_BODY_BYTES } from './http/errors.ts';
import { errorSender } from './http/sendError.ts';
import type { TokenUses } from './http/tokenUses.ts';

export interface OperatorRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly permission: Permission;
  /** Returns the result, a string with the reason for a rejection, or undefined if the path names no object. */
  readonly handle: (
    params: Readonly<Record<string, string>>,
    tokenId: string,
  ) => { readonly result: unknown } | string | undefined;
}

export interface OperatorApiOptions {
  readonly tokens: TokenStore;
  readonly uses: TokenUses;
  /** Sessions of the console. Default: requests authenticate by token only. */
  readonly consoleSessions?: ConsoleSessions | undefined;
  readonly configuredTokens: readonly string[];
  readonly routes: readonly OperatorRoute[];
}

/** Fastify plugin with routes for the server's operators. Tokens, envelopes and errors are those of the rules API. */
export const operatorApi: FastifyPluginAsync<OperatorApiOptions> = async (
  fastify,
  { tokens, uses, consoleSessions: sessions, configuredTokens, routes },
) => {
  const authenticator = new Authenticator({ configuredTokens }, { tokens, uses, sessions });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    (_request, _body, done) => done(null),
  );
  fastify.setErrorHandler(errorSender(({ operatorTokenId }) => uses.countRejected(operatorTokenId)));
  for (const { method, path, permission, handle } of routes)
    fastify.route({
      method,
      url: path,
      onRequest: async (request, reply) => {
        const credentials = authenticator.credentialsOf(request.raw);
        if (credentials.session !== undefined) reply.header('cache-control', 'no-store');
        const caller = await authenticator.authenticate(credentials, request.raw);
        request.operatorTokenId = caller.tokenId;
        authorizeOperator(caller, permission);
      },
      handler: async (request, reply) => {
        const params = request.params as Record<string, string>; // Fastify's params are an object of strings
        const outcome = handle(params, request.operatorTokenId);
        if (outcome === undefined) throw new ApiError('notFound');
        if (typeof outcome === 'string') throw new ApiError('invalid', { message: outcome });
        return reply.type('application/json').send(successEnvelope(outcome.result));
      },
    });
};

declare module 'fastify' {
  interface FastifyRequest {
    operatorTokenId: string;
  }
}
