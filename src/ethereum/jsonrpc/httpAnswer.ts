import { RetryLaterError, RPC_ERRORS, type RpcError } from './errors.ts';
import type { RequestId } from './request.ts';
import { errorResponse, type Part } from './response.ts';
import type { ResultStream } from './result.ts';

/** HTTP response to JSON-RPC calls. `parts` is the whole body, or the text before and after a stream. */
export interface HttpAnswer {
  readonly status: 200 | 204 | 400 | 403 | 429 | 503;
  /** Parts of the response body. Empty if the request contained only notifications. */
  readonly parts: readonly Part[];
  /** Result that is sent between the first and the second part. */
  readonly stream?: ResultStream;
  /** Releases resources of the response. Must be called when the parts were sent, or will not be sent. */
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

/** Returns the HTTP response to a request that cannot run. The status is 400 if the request is not valid JSON-RPC. */
export function badRequestAnswer(id: RequestId, error: RpcError): HttpAnswer {
  const answer = errorAnswer(id, error);
  return MALFORMED.has(error.code) ? { ...answer, status: 400 } : answer;
}
