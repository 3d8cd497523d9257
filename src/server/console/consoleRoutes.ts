import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_HEADERS } from '../../platform/page/index.ts';
import { type ConsoleFile, type ConsoleFiles, readConsoleFiles } from './consoleFiles.ts';

export interface ConsoleOptions {
  /** Files of the console. Default: the built files. */
  readonly files?: ConsoleFiles | undefined;
}

/**
 * Headers of every response of the console. They also allow images with `data:` URLs, and let its requests have a
 * `Referer`, by which the server recognises them if they have neither `Sec-Fetch-Site` nor `Origin`.
 */
const CONSOLE_HEADERS = {
  ...PAGE_HEADERS,
  'content-security-policy': PAGE_HEADERS['content-security-policy'].replace(
    "connect-src 'self';",
    "connect-src 'self'; img-src 'self' data:; manifest-src 'none';",
  ),
  'referrer-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Serves `/console/` and all paths below it, as a fastify plugin with that prefix. */
export const consoleRoutes: FastifyPluginAsync<ConsoleOptions> = async (
  fastify,
  { files = readConsoleFiles() },
) => {
  fastify.addHook('onRequest', (_request, reply, done) => {
    reply.headers(CONSOLE_HEADERS);
    done();
  });
  const get = (url: string, handler: Handler) =>
    fastify.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler });
  get('', (_request, reply) => reply.redirect('/console/', 308));
  get('/*', (request, reply) => {
    if (files === undefined)
      return reply
        .code(503)
        .send({ error: 'the console was not built: run `npm run build`, then start again' });
    const path = (request.params as { '*': string })['*']; // the wildcard of the route
    const file = files.files.get(path);
    // A missing script must be answered with 404. The browser would run the HTML page as a script.
    if (file === undefined && path.startsWith('assets/'))
      return reply.code(404).send({ error: 'file not found' });
    return send(file ?? files.page, { request, reply });
  });
};

type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function send(
  { type, body, gzipped, etag, isImmutable }: ConsoleFile,
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const takesGzip = /\bgzip\b/.test(String(request.headers['accept-encoding']));
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': isImmutable ? IMMUTABLE : 'no-cache',
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  if (takesGzip) reply.header('content-encoding', 'gzip');
  const sent = takesGzip ? await gzipped() : body;
  reply.headers({ 'content-type': type, 'content-length': sent.byteLength });
  return request.method === 'HEAD' ? reply.send() : reply.send(sent);
}
