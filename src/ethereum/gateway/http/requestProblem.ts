import type { IncomingMessage } from 'node:http';
import { ACCEPTED_CODINGS, bodyCoding } from '../../../platform/contentCoding/index.ts';
import { quoted } from '../traceIndex/traceFilter/quoted.ts';

export interface RequestProblem {
  readonly status: 405 | 415;
  readonly message: string;
  readonly headers: readonly string[];
}

const NO_WEB_SOCKET =
  'this request does not open a WebSocket: send GET with Connection: Upgrade and Upgrade: websocket, which a proxy must forward, ' +
  'to a path of the gateway, with gateway.webSocket.maxConnections above 0. Send other requests with POST';

/** Most clients send the JSON type without parameters such as `charset`, so this exact value is compared first. */
const JSON_TYPE = 'application/json';
/** The JSON-RPC specifications for HTTP name three types. */
const ANY_JSON_TYPE = /^application\/json(?:-rpc|request)? *(?:;|$)/i;

/** Returns the error response for an invalid HTTP method or header. Undefined if the request is valid. */
export function requestProblem(
  { method, headers }: IncomingMessage,
  verb: 'POST' | 'GET',
): RequestProblem | undefined {
  if (method !== verb) {
    const message = verb === 'GET' ? 'use GET for this path' : otherVerb(headers.upgrade);
    return { status: 405, message, headers: ['allow', `${verb}, OPTIONS`] };
  }
  if (verb === 'GET') return undefined;
  const type = headers['content-type'] ?? '';
  if (type !== JSON_TYPE && !ANY_JSON_TYPE.test(type))
    return {
      status: 415,
      message: `Content-Type must be application/json; it is ${quoted(type)}`,
      headers: [],
    };
  const encoding = headers['content-encoding'];
  if (encoding === undefined || bodyCoding(encoding) !== 'unknown') return undefined;
  return {
    status: 415,
    message: `Content-Encoding is ${quoted(encoding)}; it must be one of ${ACCEPTED_CODINGS}, or absent`,
    headers: ['accept-encoding', ACCEPTED_CODINGS],
  };
}

const otherVerb = (upgrade: string | undefined): string =>
  upgrade === undefined ? 'send JSON-RPC requests with POST' : NO_WEB_SOCKET;
