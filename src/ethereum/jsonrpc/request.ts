import { isUtf8 } from 'node:buffer';
import { overLimit, RpcError } from './errors.ts';

/** What a request's answer is known by: an integer, a string or null, echoed as it came. */
export type RequestId = number | string | null;

/** One request of a body, checked as far as JSON-RPC itself goes. */
export interface Call {
  /** Undefined for a notification, which is carried out and not answered. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** An entry of a batch that is no request. */
export interface BadCall {
  readonly id: RequestId;
  readonly error: RpcError;
}

export type Body =
  | { readonly kind: 'single'; readonly call: Call | BadCall }
  | { readonly kind: 'batch'; readonly calls: readonly (Call | BadCall)[] }
  /** A batch that is too long, with the ids of those that want an answer. */
  | { readonly kind: 'refused'; readonly ids: readonly RequestId[]; readonly error: RpcError };

/** Requests in a batch (docs/decisions/gateway.md). */
const MAX_BATCH_ENTRIES = 100;
/** A longer batch is refused with an error for each id, up to so many; beyond with one for all. */
const MAX_REFUSED_ENTRIES = 1_000;

/** Longest method name or id that is looked at; longer ones are never echoed. */
const MAX_TEXT_LENGTH = 256;

export const isBadCall = (call: Call | BadCall): call is BadCall => 'error' in call;

/** Reads the body of a POST. Throws RpcError where it is not JSON, an empty batch or too long a batch. */
export function parseBody(body: Buffer): Body {
  const value = parseJson(body);
  if (!Array.isArray(value)) return { kind: 'single', call: readCall(value) };
  if (value.length === 0) throw new RpcError('invalidRequest', 'a batch must have at least one request');
  if (value.length > MAX_BATCH_ENTRIES) return refusedBatch(value);
  return { kind: 'batch', calls: value.map(readCall) };
}

/** Each that wants an answer is told, where they are not too many: clients look for an answer by its id. */
function refusedBatch(values: readonly unknown[]): Body {
  const error = overLimit('requests in a batch', MAX_BATCH_ENTRIES, values.length);
  if (values.length > MAX_REFUSED_ENTRIES) throw error;
  const ids = values.map((value) => readCall(value).id).filter((id) => id !== undefined);
  if (ids.length === 0) throw error;
  return { kind: 'refused', ids, error };
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0)
    throw new RpcError('parseError', 'the body is empty; a JSON-RPC 2.0 request is expected');
  if (!isUtf8(body)) throw new RpcError('parseError', 'the body is not valid UTF-8');
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new RpcError('parseError', 'the body is not valid JSON');
  }
}

function readCall(value: unknown): Call | BadCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad(null, 'a request must be an object with jsonrpc, method, params and id');
  const { jsonrpc, method, params, id } = value as Record<string, unknown>; // a JSON object
  if (id !== undefined && !isRequestId(id))
    return bad(null, 'id must be an integer within ±(2^53 - 1), a string of at most 256 characters, or null');
  if (jsonrpc !== '2.0') return bad(id ?? null, 'jsonrpc must be "2.0"');
  if (typeof method !== 'string' || method.length > MAX_TEXT_LENGTH)
    return bad(id ?? null, 'method must be a string, the name of a method');
  if (params !== undefined && params !== null && !Array.isArray(params))
    return {
      id: id ?? null,
      error: new RpcError('invalidParams', 'params must be an array of positional parameters'),
    };
  return { id, method, params: params ?? [] };
}

const bad = (id: RequestId, message: string): BadCall => ({
  id,
  error: new RpcError('invalidRequest', message),
});

function isRequestId(id: unknown): id is RequestId {
  if (typeof id === 'string') return id.length <= MAX_TEXT_LENGTH;
  return id === null || Number.isSafeInteger(id);
}
