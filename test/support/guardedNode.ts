import { startHttpServer } from './httpServer.ts';

export interface GuardedNode {
  /** Without user and password. */
  readonly url: string;
  /** The same with them, as an operator would configure it. */
  readonly urlWithPassword: string;
  /** Requests that came without the right ones. */
  refused(): number;
  stop(): Promise<void>;
}

/** A password with all that has to be written with % in a URL. */
export const USER = 'ops@example';
export const PASSWORD = 'p:a/s@s%41 wörd';

/**
 * A fake in part: a proxy before a real node that asks for Basic authentication, as the proxies do that operators put
 * before their nodes. Whoever does not give user and password gets 401 and a page, no JSON.
 */
export async function startGuardedNode(upstream: string): Promise<GuardedNode> {
  const expected = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString('base64')}`;
  let refused = 0;
  const { url, stop } = await startHttpServer(async (body, request, response) => {
    if (request.headers.authorization !== expected) {
      refused++;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="node"' }).end('<html>Unauthorized</html>');
      return;
    }
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(upstream, { method: 'POST', headers, body }).catch(() => undefined);
    if (answer === undefined) {
      response.destroy();
      return;
    }
    response.writeHead(answer.status, headers).end(await answer.text());
  });
  return {
    url,
    urlWithPassword: `http://${encodeURIComponent(USER)}:${encodeURIComponent(PASSWORD)}@${new URL(url).host}`,
    refused: () => refused,
    stop,
  };
}
