import type { IncomingMessage } from 'node:http';

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

/** What is wrong with a request for a WebSocket; undefined where nothing is. */
export interface HandshakeProblem {
  readonly status: 400 | 403 | 426;
  readonly message: string;
  readonly headers: readonly string[];
}

/** Reads what RFC 6455 (4.2.1) wants of a request, and whose page it is: a browser asks nobody before it opens a WebSocket. */
export function handshakeProblem(
  { headers }: IncomingMessage,
  allowedOrigin: string | undefined,
): HandshakeProblem | undefined {
  const { origin, host } = headers;
  if (origin !== undefined && allowedOrigin === undefined && !isOf(origin, host))
    return {
      status: 403,
      message: 'pages of this Origin may not open a WebSocket here; gateway.corsOrigins names those that may',
      headers: [],
    };
  if (headers['sec-websocket-version'] !== VERSION)
    return {
      status: 426,
      message: `Sec-WebSocket-Version must be ${VERSION}`,
      headers: ['sec-websocket-version', VERSION, 'upgrade', 'websocket'],
    };
  if (!KEY.test(headers['sec-websocket-key'] ?? ''))
    return { status: 400, message: 'Sec-WebSocket-Key must be 16 bytes in base64', headers: [] };
  return undefined;
}

/** Whether it is a page of this server itself. Its `Host` is one that is served here, or the request had not come so far. */
function isOf(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
