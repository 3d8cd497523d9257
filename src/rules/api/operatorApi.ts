import type { FastifyPluginAsync } from 'fastify';
import type { Permission, TokenStore } from '../index.ts';
import { Authenticator, authorizeOperator } from './authenticate.ts';
import { successEnvelope } from './envelope.ts';
import { ApiError, MAX_BODY_BYTES } from './errors.ts';
import { errorSender } from './sendError.ts';
import type { TokenUses } from './tokenUses.ts';

/** What an operator asks of the server itself. */
export interface OperatorRoute {
  readonly method: 'GET' | 'POST';
  /** As fastify writes it. */
  readonly path: string;
  readonly permission: Permission;
  /** The result, or why there is none: undefined where what the path names does not exist, a text where it is refused. */
  readonly handle: (
    params: Readonly<Record<string, string>>,
    tokenId: string,
  ) => { readonly result: unknown } | string | undefined;
}

export interface OperatorApiOptions {
  readonly tokens: TokenStore;
  readonly uses: TokenUses;
  readonly configuredTokens: readonly string[];
  readonly routes: readonly OperatorRoute[];
}

/** Routes for operators, with the tokens, the envelope and the errors of the rules API, as a fastify plugin. */
export const operatorApi: FastifyPluginAsync<OperatorApiOptions> = async (
  fastify,
  { tokens, uses, configuredTokens, routes },
) => {
  const authenticator = new Authenticator({ configuredTokens }, { tokens, uses });
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES },
    (_request, _body, done) => done(null),
  );
  fastify.setErrorHandler(errorSender());
  for (const { method, path, permission, handle } of routes)
    fastify.route({
      method,
      url: path,
      onRequest: async (request) => {
        const caller = await authenticator.authenticate(request.headers.authorization);
        try {
          authorizeOperator(caller, permission);
        } catch (error) {
          uses.notAllowed(caller.tokenId);
          throw error;
        }
        request.operatorTokenId = caller.tokenId;
      },
      handler: async (request, reply) => {
        const params = request.params as Record<string, string>; // the framework's params are an object of strings
        const outcome = handle(params, request.operatorTokenId);
        if (outcome === undefined) throw new ApiError('notFound');
        if (typeof outcome === 'string') throw new ApiError('invalid', { message: outcome });
        return reply.type('application/json').send(successEnvelope(outcome.result));
      },
    });
};

declare module 'fastify' {
  interface FastifyRequest {
    /** The token of an operator's request, once that is known. */
    operatorTokenId: string;
  }
}
