import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { PAGE_HEADERS } from '../../platform/page/index.ts';

/** Shown to a browser if the console is off. */
const CONSOLE_IS_OFF = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Floodgate</title>
<h1>Floodgate is running</h1>
<p>The console is off. To switch it on, set <code>console.enabled: true</code> in floodgate.yaml, or start with
<code>--console-enabled</code>.</p>
<p><a href="/client/v4/docs">Documentation of the rules API</a></p>
</html>
`;

/** Redirects a browser from `/` to the console, or explains how to switch it on. Other clients receive 404. */
export const startPage: FastifyPluginAsync<{ readonly hasConsole: boolean }> = async (
  fastify,
  { hasConsole },
) => {
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    if (!/\btext\/html\b/.test(String(request.headers.accept))) return reply.callNotFound();
    reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache', vary: 'accept' });
    if (hasConsole) return reply.redirect('/console/', 302);
    return reply.code(404).type('text/html; charset=utf-8').send(CONSOLE_IS_OFF);
  };
  fastify.route({ method: ['GET', 'HEAD'], url: '/', exposeHeadRoute: false, handler });
};
