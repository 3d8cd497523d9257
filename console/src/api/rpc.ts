/** Calls of the gateway beside the console. Each gives a value or a failure in words; it never throws. */
import { signal } from '@preact/signals';
import { isRemembered } from '../session.ts';
import { type Failure, failureWithoutAnswer } from './failure.ts';

const STORED = 'floodgate.key';

/** The API key that is sent to the gateway; undefined where none was given. Kept as long as the token is. */
export const gatewayKey = signal<string | undefined>(sessionStorage.getItem(STORED) ?? undefined);

export function keepKey(key: string | undefined): void {
  gatewayKey.value = key;
  if (key !== undefined && isRemembered.value) sessionStorage.setItem(STORED, key);
  else sessionStorage.removeItem(STORED);
}

export interface RpcCall {
  readonly network: string;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly signal?: AbortSignal;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** A failure of the gateway, with what it answered. */
export interface RpcFailure extends Failure {
  readonly error: RpcError | undefined;
}

export type RpcOutcome<T> = { readonly value: T } | { readonly failure: RpcFailure };

export const pathOfNetwork = (network: string): string => `/v1/${encodeURIComponent(network)}`;

export async function rpc<T>({ network, method, params, signal: abort }: RpcCall): Promise<RpcOutcome<T>> {
  const [answer] = await rpcBatch<T>(network, [{ method, params }], abort);
  return answer ?? { failure: noAnswer() };
}

/** Several at once, answered in their order. */
export async function rpcBatch<T>(
  network: string,
  calls: readonly Pick<RpcCall, 'method' | 'params'>[],
  abort?: AbortSignal,
): Promise<readonly RpcOutcome<T>[]> {
  const bodies = calls.map((one, id) => ({ jsonrpc: '2.0', id, ...one }));
  let status: number;
  let body: unknown;
  try {
    const response = await fetch(pathOfNetwork(network), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(gatewayKey.value !== undefined && { authorization: `Bearer ${gatewayKey.value}` }),
      },
      body: JSON.stringify(bodies.length === 1 ? bodies[0] : bodies),
      cache: 'no-store',
      ...(abort && { signal: abort }),
    });
    status = response.status;
    body = await response.json();
  } catch {
    return calls.map(() => ({ failure: noAnswer() }));
  }
  const answers = (Array.isArray(body) ? body : [body]) as RpcAnswer<T>[]; // the gateway answers in the form of JSON-RPC
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  const whole = answers.length === 1 ? answers[0] : undefined;
  return calls.map((_, id) => {
    const answer = byId.get(id) ?? whole;
    if (answer?.error) return { failure: rpcFailure(status, answer.error) };
    return answer && 'result' in answer ? { value: answer.result as T } : { failure: noAnswer() };
  });
}

interface RpcAnswer<T> {
  readonly id: number | null;
  readonly result?: T;
  readonly error?: RpcError;
}

const noAnswer = (): RpcFailure => ({ ...failureWithoutAnswer(), error: undefined });

function rpcFailure(status: number, error: RpcError): RpcFailure {
  const words = WORDS.find(([isIt]) => isIt(status, error))?.[1] ?? ANY;
  return { ...words, status, error, faults: [{ field: undefined, message: error.message }] };
}

type Words = Pick<Failure, 'what' | 'still' | 'todo'>;

const reasonOf = ({ data }: RpcError): unknown =>
  typeof data === 'object' && data !== null && 'reason' in data ? data.reason : undefined;

const ANY: Words = {
  what: 'The gateway could not answer.',
  still: 'Nothing was changed.',
  todo: 'What it says is below.',
};

const WORDS: readonly (readonly [(status: number, error: RpcError) => boolean, Words])[] = [
  [
    (status) => status === 401,
    {
      what: 'The gateway wants an API key.',
      still: 'You stay signed in.',
      todo: 'Give one above: `floodgate key create`, or the page Access, makes it.',
    },
  ],
  [
    (_, error) => reasonOf(error) === 'noNode',
    {
      what: 'No node can answer now.',
      still: 'What is in the index is still answered.',
      todo: 'Look at the page Nodes, then try again.',
    },
  ],
  [
    (_, error) => reasonOf(error) === 'blockReplaced',
    {
      what: 'The chain was reorganised: the block in which this list ended was replaced.',
      still: 'What is shown above was so when it was read.',
      todo: 'Begin the list anew.',
    },
  ],
  [
    (status) => status === 429,
    { what: 'Too many calls.', still: 'Nothing was changed.', todo: 'Wait some seconds, then try again.' },
  ],
  [
    (status) => status === 403,
    {
      what: 'The gateway does not serve this method here.',
      still: 'Other methods are served.',
      todo: 'Another key may be allowed to call it; `gateway.methods` says what is served.',
    },
  ],
  [
    (_, { code }) => code === -32001,
    {
      what: 'The block is not in the index, and no node can give it now.',
      still: 'Other blocks are answered.',
      todo: 'Look at the page Nodes. With the server stopped `floodgate index` brings old blocks in.',
    },
  ],
];

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The same call for a shell, with the key as a variable where one is sent. */
export function curlOfRpc({ network, method, params }: RpcCall): string {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return [
    `curl ${quote(location.origin + pathOfNetwork(network))} -H 'Content-Type: application/json'`,
    ...(gatewayKey.value === undefined ? [] : ['-H "Authorization: Bearer $FLOODGATE_KEY"']),
    `--data ${quote(body)}`,
  ].join(' ');
}

/** The same call with viem. */
export function viemOfRpc({ network, method, params }: RpcCall): string {
  const url = JSON.stringify(location.origin + pathOfNetwork(network));
  const transport =
    gatewayKey.value === undefined
      ? `http(${url})`
      : `http(${url}, { fetchOptions: { headers: { Authorization: \`Bearer \${process.env.FLOODGATE_KEY}\` } } })`;
  return [
    "import { createPublicClient, http } from 'viem';",
    '',
    `const client = createPublicClient({ transport: ${transport} });`,
    `const result = await client.request(${JSON.stringify({ method, params }, null, 2)});`,
    'console.log(result);',
  ].join('\n');
}
