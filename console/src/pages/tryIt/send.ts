/** Sends a request as it is and gives its answer as it is: nothing of it is judged here. */
import { type Call, headersOf, urlOf } from '../../api/client.ts';
import { gatewayKey, pathOfNetwork, type RpcCall } from '../../api/rpc.ts';

export interface RawAnswer {
  /** Undefined where none came. */
  readonly status: number | undefined;
  readonly ms: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
}

/** What says more than that the answer is JSON. */
const SHOWN = [
  ...[
    'etag',
    'floodgate-stale',
    'idempotent-replayed',
    'ratelimit',
    'retry-after',
    'www-authenticate',
    'allow',
  ],
  ...['x-floodgate-cache', 'x-floodgate-upstream', 'x-request-id', 'x-should-retry'],
];
/** More of an answer is not shown. */
const MAX_CHARACTERS = 200_000;

export const sendRest = (call: Call): Promise<RawAnswer> =>
  send(urlOf(call), {
    method: call.method ?? 'GET',
    headers: headersOf(call),
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  });

export const sendRpc = ({ network, method, params }: RpcCall): Promise<RawAnswer> =>
  send(pathOfNetwork(network), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(gatewayKey.value !== undefined && { authorization: `Bearer ${gatewayKey.value}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

async function send(url: string, request: RequestInit): Promise<RawAnswer> {
  const startedMs = performance.now();
  try {
    const response = await fetch(url, { ...request, cache: 'no-store' });
    const text = await response.text();
    return {
      status: response.status,
      ms: performance.now() - startedMs,
      headers: SHOWN.flatMap((name) => {
        const value = response.headers.get(name);
        return value === null ? [] : [[name, value] as const];
      }),
      text: indented(text),
    };
  } catch {
    return { status: undefined, ms: performance.now() - startedMs, headers: [], text: '' };
  }
}

function indented(text: string): string {
  if (text.length > MAX_CHARACTERS)
    return `${text.slice(0, MAX_CHARACTERS)}\n… ${text.length - MAX_CHARACTERS} more characters`;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
