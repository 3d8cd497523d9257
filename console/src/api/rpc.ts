/** JSON-RPC calls to the gateway of this server. They never throw: they return a value or a failure. */
import { hasGatewayKey } from '../session.ts';
import { inSession, SECRET_OF_SESSION } from './credentials.ts';
import { curlCommand, type HttpRequest } from './curl.ts';
import { type Failure, type Outcome, unansweredFailure, type Words, words } from './failure.ts';
import { putGatewayKey } from './session.ts';

export async function setGatewayKey(key: string | undefined): Promise<Outcome<unknown>> {
  const answer = await putGatewayKey(key);
  if ('value' in answer) hasGatewayKey.value = key !== undefined;
  return answer;
}

export interface RpcCall {
  readonly network: string;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly signal?: AbortSignal;
}

interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

const rpcRequest = (network: string, body: unknown): HttpRequest => ({
  method: 'POST',
  url: pathOfNetwork(network),
  headers: {
    'content-type': 'application/json',
    ...(hasGatewayKey.value && { authorization: `Bearer ${SECRET_OF_SESSION}` }),
  },
  body: JSON.stringify(body),
});

export const pathOfNetwork = (network: string): string => `/v1/${encodeURIComponent(network)}`;

export async function rpc<T>({ network, method, params, signal: abort }: RpcCall): Promise<Outcome<T>> {
  const [answer] = await rpcBatch<T>(network, [{ method, params }], abort);
  return answer ?? { failure: unansweredFailure() };
}

/** Sends the calls as one batch, and returns their outcomes in the order of the calls. */
export async function rpcBatch<T>(
  network: string,
  calls: readonly Pick<RpcCall, 'method' | 'params'>[],
  abort?: AbortSignal,
): Promise<readonly Outcome<T>[]> {
  const bodies = calls.map((one, id) => ({ jsonrpc: '2.0', id, ...one }));
  let status: number;
  let body: unknown;
  try {
    const { url, ...sent } = inSession(rpcRequest(network, bodies.length === 1 ? bodies[0] : bodies));
    const response = await fetch(url, { ...sent, cache: 'no-store', ...(abort && { signal: abort }) });
    status = response.status;
    body = await response.json();
  } catch {
    return calls.map(() => ({ failure: unansweredFailure() }));
  }
  const answers = (Array.isArray(body) ? body : [body]) as RpcAnswer<T>[]; // the gateway returns JSON-RPC responses
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  const whole = answers.length === 1 ? answers[0] : undefined;
  return calls.map((_, id) => {
    const answer = byId.get(id) ?? whole;
    if (answer?.error) return { failure: rpcFailure(status, answer.error) };
    return answer && 'result' in answer ? { value: answer.result as T } : { failure: unansweredFailure() };
  });
}

interface RpcAnswer<T> {
  readonly id: number | null;
  readonly result?: T;
  readonly error?: RpcError;
}

function rpcFailure(status: number, error: RpcError): Failure {
  const found = WORDS.find(([isIt]) => isIt(status, error))?.[1] ?? ANY;
  return { ...found, status, faults: [{ field: undefined, message: error.message }] };
}

const reasonOf = ({ data }: RpcError): unknown =>
  typeof data === 'object' && data !== null && 'reason' in data ? data.reason : undefined;

const ANY = words('The gateway could not process the call.', 'See its message below.', '');

const WORDS: readonly (readonly [(status: number, error: RpcError) => boolean, Words])[] = [
  [
    (status) => status === 401,
    words(
      'The gateway requires an API key.',
      'Enter one above. Create it with `floodgate key create`, or on the page Access.',
      'You stay signed in.',
    ),
  ],
  [
    (_, error) => reasonOf(error) === 'noNode',
    words(
      'No node is available.',
      'Check the page Nodes, then try again.',
      'Calls that the index can answer still work.',
    ),
  ],
  [
    (_, error) => reasonOf(error) === 'blockReplaced',
    words(
      'The chain was reorganised: the last block of this list was replaced.',
      'Reload the page.',
      'The traces above were valid when they were read.',
    ),
  ],
  [
    (_, { data }) => typeof data === 'object' && data !== null && 'head' in data,
    words('The chain does not have this block yet.', 'Try again when it does.', ''),
  ],
  [(status) => status === 429, words('Too many calls.', 'Wait a few seconds, then try again.', '')],
  [
    (status) => status === 403,
    words(
      'The gateway does not allow this method.',
      'Use an API key that may call it, or add it to `gateway.methods`.',
      'Other methods still work.',
    ),
  ],
  [
    (_, { code }) => code === -32001,
    words(
      'The block is not in the index, and no node can return it now.',
      'Check the page Nodes. To index old blocks, stop the server and run `floodgate index`.',
      'Other blocks are available.',
    ),
  ],
];

export const curlOfRpc = ({ network, method, params }: RpcCall): string =>
  curlCommand(rpcRequest(network, { jsonrpc: '2.0', id: 1, method, params }), 'FLOODGATE_KEY');

export function viemOfRpc({ network, method, params }: RpcCall): string {
  const url = JSON.stringify(location.origin + pathOfNetwork(network));
  const transport = hasGatewayKey.value
    ? `http(${url}, { fetchOptions: { headers: { Authorization: \`Bearer \${process.env.FLOODGATE_KEY}\` } } })`
    : `http(${url})`;
  return [
    "import { createPublicClient, http } from 'viem';",
    '',
    `const client = createPublicClient({ transport: ${transport} });`,
    `const result = await client.request(${JSON.stringify({ method, params }, null, 2)});`,
    'console.log(result);',
  ].join('\n');
}
