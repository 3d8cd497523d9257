import { startHttpServer } from './httpServer.ts';

export interface AuthenticatedNode {
  /** URL without user and password. */
  readonly url: string;
  /** URL with user and password, as an operator would configure it. */
  readonly urlWithPassword: string;
  /** Number of requests without the right credentials. */
  refused(): number;
  stop(): Promise<void>;
}

/** A password with every character that must be percent-encoded in a URL. */
export const USER = 'ops@example';
export const PASSWORD = 'p:a/s@s%41 wörd';

/**
 * Starts a proxy before a real node that requires Basic authentication, as operators' proxies do. Requests without
 * credentials are answered with 401 and an HTML page.
 */
export async function startAuthenticatedNode(upstream: string): Promise<AuthenticatedNode> {
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
