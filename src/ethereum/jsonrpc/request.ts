import { isUtf8 } from 'node:buffer';
import { overLimit, RpcError } from './errors.ts';

/** Id of a JSON-RPC request: an integer, a string or null. The response to the client contains the same id. */
export type RequestId = number | string | null;

/** A valid JSON-RPC request. The method and its parameters were not checked yet. */
export interface Call {
  /** Id of the request; undefined for a notification, which is run but gets no response. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface BadCall {
  readonly id: RequestId;
  readonly error: RpcError;
}

export type Body =
  | { readonly kind: 'single'; readonly call: Call | BadCall }
  | { readonly kind: 'batch'; readonly calls: readonly (Call | BadCall)[] }
  /** A batch with too many entries. `ids` has the ids of the entries that expect a response. */
  | { readonly kind: 'refused'; readonly ids: readonly RequestId[]; readonly error: RpcError };

/** Maximum number of requests in a batch (docs/internals/decisions/gateway.md). */
const MAX_BATCH_ENTRIES = 100;
/** Maximum number of entries of a rejected batch in which each id gets an error. A larger batch gets one error. */
const MAX_REFUSED_ENTRIES = 1_000;

/**
 * Maximum number of commas and opening brackets in a body: JSON.parse of 2 MB of brackets takes 150 ms, in which no
 * other client is served. A body of this many hashes or addresses would have more than 1 MB.
 */
const MAX_SEPARATORS = 30_000;

/** Maximum length of a method name or an id. Longer ones are rejected, and the response does not repeat them. */
const MAX_TEXT_LENGTH = 256;

export const isBadCall = (call: Call | BadCall): call is BadCall => 'error' in call;

/** Parses a POST body. Throws RpcError if the body is not JSON, or is a batch to which a single error responds. */
export function parseBody(body: Buffer): Body {
  const value = parseJson(body);
  if (!Array.isArray(value)) return { kind: 'single', call: readCall(value) };
  if (value.length === 0) throw new RpcError('invalidRequest', 'a batch must have at least one request');
  if (value.length > MAX_BATCH_ENTRIES) return refusedBatch(value);
  return { kind: 'batch', calls: value.map(readCall) };
}

/** Rejects a batch with an error for each id, because clients match responses by id. Without ids, throws RpcError. */
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
  checkSeparators(body);
  if (!isUtf8(body)) throw new RpcError('parseError', 'the body is not valid UTF-8');
  try {
    return JSON.parse(body.toString());
  } catch {
    throw new RpcError('parseError', 'the body is not valid JSON');
  }
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];

/** Throws RpcError for a body with too many values: parsing it would delay other clients. */
function checkSeparators(body: Buffer): void {
  if (body.length <= MAX_SEPARATORS) return;
  let count = 0;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i];
    if (byte !== COMMA && byte !== BRACKET && byte !== BRACE) continue;
    if (++count > MAX_SEPARATORS)
      throw new RpcError(
        'limitExceeded',
        `commas, [ and { in a body: at most ${MAX_SEPARATORS}, sent more; split the batch or the lists`,
        { limit: MAX_SEPARATORS },
      );
  }
}

function readCall(value: unknown): Call | BadCall {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return bad(null, 'a request must be an object with jsonrpc, method, params and id');
  const { jsonrpc, method, params, id } = value as Record<string, unknown>; // the value is a JSON object
  if (id !== undefined && !isRequestId(id))
    return bad(null, 'id must be an integer within ±(2^53 - 1), a string of at most 256 characters, or null');
  if (jsonrpc !== '2.0') return bad(id ?? null, 'jsonrpc must be "2.0"');
  if (typeof method !== 'string' || method.length > MAX_TEXT_LENGTH)
    return bad(id ?? null, 'method must be a string of at most 256 characters');
  if (params !== undefined && params !== null && !Array.isArray(params))
    return {
      id: id ?? null,
      error: new RpcError(
        'invalidParams',
        `params must be an array of positional parameters; it is ${typeof params === 'object' ? 'an object' : `a ${typeof params}`}`,
      ),
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
