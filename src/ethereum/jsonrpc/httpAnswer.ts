import { RetryLaterError, RPC_ERRORS, type RpcError } from './errors.ts';
import type { RequestId } from './request.ts';
import { errorResponse, type Part } from './response.ts';
import type { ResultStream } from './result.ts';

/** HTTP response to the JSON-RPC calls of one request body. */
export interface HttpAnswer {
  readonly status: 200 | 204 | 400 | 403 | 429 | 503;
  /** Parts of the body: the whole body or, with `stream`, the text before and after it. Empty if there is no body. */
  readonly parts: readonly Part[];
  /** Result that is sent between the first and the second part. Default: `parts` contains all results. */
  readonly stream?: ResultStream;
  /** Releases the buffer of the response. Must be called when the parts have been sent, or will not be sent. */
  readonly release?: () => void;
  readonly retryAfterSeconds?: number;
}

const MALFORMED: ReadonlySet<number> = new Set([RPC_ERRORS.parseError.code, RPC_ERRORS.invalidRequest.code]);

export const NO_CONTENT: HttpAnswer = { status: 204, parts: [] };

export function errorAnswer(id: RequestId, error: RpcError): HttpAnswer {
  const parts = [errorResponse(id, error)];
  if (!(error instanceof RetryLaterError)) return { status: 200, parts };
  return { status: error.status, parts, retryAfterSeconds: error.retryAfterSeconds };
}

/** Returns the HTTP response to a request that cannot be run. Its status is 400 if the request is not JSON-RPC. */
export function badRequestAnswer(id: RequestId, error: RpcError): HttpAnswer {
  const answer = errorAnswer(id, error);
  return MALFORMED.has(error.code) ? { ...answer, status: 400 } : answer;
}
