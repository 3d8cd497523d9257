import type { IncomingMessage } from 'node:http';

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = '13';

export interface HandshakeProblem {
  readonly status: 400 | 403 | 426;
  readonly message: string;
  readonly headers: readonly string[];
}

/** Checks a WebSocket handshake (RFC 6455, 4.2.1). Checks its origin too: browsers send no CORS preflight for it. */
export function handshakeProblem(
  { headers }: IncomingMessage,
  allowedOrigin: string | undefined,
): HandshakeProblem | undefined {
  const { origin, host } = headers;
  if (origin !== undefined && allowedOrigin === undefined && !isSameOrigin(origin, host))
    return {
      status: 403,
      message: 'this Origin may not open a WebSocket; gateway.corsOrigins lists the allowed origins',
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

/** Returns true if the web page at `origin` came from this server. The HTTP server has already validated `Host`. */
function isSameOrigin(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
