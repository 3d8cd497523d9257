import { NodeError } from './nodeError.ts';

/** Of a node's own words, what an error repeats. */
const MAX_QUOTED_LENGTH = 200;

/** A call for a node: its method and its parameters. */
export type NodeCall = readonly [method: string, ...params: readonly unknown[]];

/** A node's response to one call of ours, as JSON-RPC has it. */
export type RpcResponse =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** JSON-RPC's codes of what is no request, no JSON, and no method to the one that answers. */
const INVALID_REQUEST = -32_600;
const PARSE_ERROR = -32_700;
export const METHOD_NOT_FOUND = -32_601;
const BATCH_REFUSALS = new Set<unknown>([INVALID_REQUEST, PARSE_ERROR, METHOD_NOT_FOUND]);

/** Whether a batch was refused as such: with one error for all of it, which says that this is no request. */
export function refusesBatch(body: unknown): boolean {
  const error = isObject(body) ? body['error'] : undefined;
  return isObject(error) && BATCH_REFUSALS.has(error['code']);
}

/** The result of a response. Throws NodeError where it is an error. */
export function resultOf(method: string, response: RpcResponse | undefined): unknown {
  if (response === undefined) throw new NodeError('nonsense', `no answer to ${method}`);
  if ('result' in response) return response.result;
  const { message, code } = response.error;
  throw new NodeError('refused', `${method}: ${message} (code ${code})`);
}

/** The responses to calls that were sent with their places as ids. Throws NodeError where one is missing. */
export function readResponses(body: unknown, calls: readonly NodeCall[], host: string): RpcResponse[] {
  const list: readonly unknown[] = calls.length === 1 ? [body] : Array.isArray(body) ? body : [];
  const byId = new Map(list.filter(isObject).map((response) => [response['id'], response]));
  return calls.map(([method], id) => {
    const response = byId.get(id);
    if (response === undefined) throw new NodeError('nonsense', `${host} gave no answer to ${method}`);
    return readOne(response, method, host);
  });
}

function readOne({ result, error }: Record<string, unknown>, method: string, host: string): RpcResponse {
  if (isObject(error)) {
    const { code, message, data } = error;
    return {
      error: {
        code: typeof code === 'number' && Number.isInteger(code) ? code : -32000,
        message: typeof message === 'string' ? message.slice(0, MAX_QUOTED_LENGTH) : 'no message',
        ...(data !== undefined && { data }),
      },
    };
  }
  if (result === undefined)
    throw new NodeError('nonsense', `${host} answered ${method} with neither result nor error`);
  return { result };
}

/** What a body says. Throws NodeError where it is no JSON. */
export function parseBody(bytes: Buffer, status: number, host: string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (cause) {
    // A wrong path or a page in between speaks by its status.
    const withStatus = status === 200 ? '' : ` and HTTP status ${status}`;
    throw new NodeError('nonsense', `${host} answered with something that is not JSON${withStatus}`, {
      cause,
    });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
