import { CallError, NodeError } from './nodeError.ts';
import { parseNodeJson } from './parseNodeJson.ts';

/** Maximum length of a node's error message that is quoted in another message. */
const MAX_QUOTED_LENGTH = 200;

export type NodeCall = readonly [method: string, ...params: readonly unknown[]];

export type RpcResponse =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** Error codes of JSON-RPC 2.0, 5.1, with which a node that does not support batches rejects a batch. */
const INVALID_REQUEST = -32_600;
const PARSE_ERROR = -32_700;
export const METHOD_NOT_FOUND = -32_601;
const BATCH_REFUSALS = new Set<unknown>([INVALID_REQUEST, PARSE_ERROR, METHOD_NOT_FOUND]);

/** True if the node rejected a batch as a whole, with a single error that says that the request is invalid. */
export function refusesBatch(body: unknown): boolean {
  const error = isObject(body) ? body['error'] : undefined;
  return isObject(error) && BATCH_REFUSALS.has(error['code']);
}

/** Error message with which geth (-32003), reth (-32008, -32011) and providers refuse to send a large response. */
const TOO_LARGE = /\btoo (large|big)\b|response size/i;

/** Throws NodeError with reason `oversized` if the error says that the response would be too large. */
export function throwIfTooLarge(method: string, error: unknown): void {
  const message = isObject(error) ? error['message'] : undefined;
  if (typeof message !== 'string' || !TOO_LARGE.test(message)) return;
  throw new NodeError('oversized', `${method}: ${message.slice(0, MAX_QUOTED_LENGTH)}`);
}

/** Returns the result of a response. Throws NodeError if the response is missing or is an error. */
export function resultOf(method: string, response: RpcResponse | undefined): unknown {
  if (response === undefined) throw new NodeError('nonsense', `no response to ${method}`);
  if ('result' in response) return response.result;
  const { message, code } = response.error;
  throwIfTooLarge(method, response.error);
  throw new CallError(`${method}: ${message} (code ${code})`, code);
}

/** Returns the responses to calls whose ids are their indexes. Throws NodeError if a response is missing. */
export function readResponses(body: unknown, calls: readonly NodeCall[], host: string): RpcResponse[] {
  const list: readonly unknown[] = calls.length === 1 ? [body] : Array.isArray(body) ? body : [];
  if (calls.length > 1 && isObject(body)) throwIfTooLarge('a batch', body['error']);
  const byId = new Map(list.filter(isObject).map((response) => [response['id'], response]));
  return calls.map(([method], id) => {
    const response = byId.get(id);
    if (response === undefined) throw new NodeError('nonsense', `${host} sent no response to ${method}`);
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

/** Parses the JSON body of an HTTP response. Throws NodeError if the body is not JSON. */
export function parseBody(bytes: Buffer, status: number, host: string): unknown {
  try {
    return parseNodeJson(bytes);
  } catch (cause) {
    // The HTTP status helps to detect a wrong path or an error page of a proxy.
    const withStatus = status === 200 ? '' : ` and HTTP status ${status}`;
    throw new NodeError('nonsense', `${host} answered with something that is not JSON${withStatus}`, {
      cause,
    });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
