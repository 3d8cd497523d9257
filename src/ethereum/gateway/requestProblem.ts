import type { IncomingMessage } from 'node:http';
import { bodyCoding, TAKEN_CODINGS } from '../../platform/contentCoding/index.ts';
import { quoted } from './traceFilter/quoted.ts';

/** Why a request is answered without a look at its body. */
export interface RequestProblem {
  readonly status: 405 | 415;
  readonly message: string;
  readonly headers: readonly string[];
}

const NO_WEB_SOCKET =
  'no WebSocket is opened by this request: that takes GET with Connection: Upgrade and Upgrade: websocket, which a proxy in between ' +
  'must pass on, at a path of the gateway, where gateway.webSocket.maxConnections is not 0. Other requests are sent with POST';

/** The JSON content type, with or without parameters; nearly all send it without. */
const JSON_TYPE = 'application/json';
const JSON_TYPE_AND_MORE = /^application\/json *(?:;|$)/i;

/** What is wrong with a request for a resource that is asked for with this verb; undefined where nothing is. */
export function requestProblem(
  { method, headers }: IncomingMessage,
  verb: 'POST' | 'GET',
): RequestProblem | undefined {
  if (method !== verb) {
    const message = verb === 'GET' ? 'this path is read with GET' : otherVerb(headers.upgrade);
    return { status: 405, message, headers: ['allow', `${verb}, OPTIONS`] };
  }
  if (verb === 'GET') return undefined;
  const type = headers['content-type'] ?? '';
  if (type !== JSON_TYPE && !JSON_TYPE_AND_MORE.test(type))
    return { status: 415, message: 'the content type must be application/json', headers: [] };
  const encoding = headers['content-encoding'];
  if (encoding === undefined || bodyCoding(encoding) !== 'unknown') return undefined;
  return {
    status: 415,
    message: `the Content-Encoding of the body is ${quoted(encoding)}; taken: one of ${TAKEN_CODINGS}, or none`,
    headers: ['accept-encoding', TAKEN_CODINGS],
  };
}

const otherVerb = (upgrade: string | undefined): string =>
  upgrade === undefined ? 'JSON-RPC requests are sent with POST' : NO_WEB_SOCKET;
