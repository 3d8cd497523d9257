/**
 * Every error of the JSON-RPC interface, once: what the tests go through, what docs/gateway.md shows.
 * Codes -32700 to -32600 are JSON-RPC 2.0's own; -32005 and -32001 are EIP-1474's.
 */
export const RPC_ERRORS = {
  parseError: { code: -32700, meaning: 'The body is not JSON.' },
  invalidRequest: { code: -32600, meaning: 'The body is JSON, but not a JSON-RPC 2.0 request.' },
  methodNotFound: { code: -32601, meaning: 'The gateway does not serve this method (HTTP status 403).' },
  invalidParams: {
    code: -32602,
    meaning: 'A parameter is missing, unknown or has a bad value; the message names it.',
  },
  internalError: {
    code: -32603,
    meaning: 'A bug in the gateway; the message has the request id to look for in the log.',
  },
  noNode: {
    code: -32603,
    meaning:
      'No node can answer now, also after a wait: `data` is `{"reason":"noNode"}`, or `noIndex` where a shared index cannot be read; the HTTP status 503; try again.',
  },
  unauthorized: {
    code: -32000,
    meaning: 'API keys are required, and the request has none or an unknown one.',
  },
  filterNotFound: {
    code: -32000,
    meaning:
      'There is no such filter: uninstalled, not asked for in 5 minutes, or it cannot go on without a gap; make another.',
  },
  resourceNotFound: {
    code: -32001,
    meaning:
      'A block is not in the index and no node can give it now, or the one that a cursor points to was replaced; `data` names it.',
  },
  resourceUnavailable: {
    code: -32002,
    meaning:
      'The server is stopping, API keys cannot be checked, the index is not ready for a summary, or it is not known whether a transaction got through; the message says what to do.',
  },
  limitExceeded: {
    code: -32005,
    meaning:
      'The request or its answer exceeds a limit; `data` has the limit and, if known, what was requested.',
  },
} as const;

export type RpcErrorName = keyof typeof RPC_ERRORS;

/** An error that becomes a JSON-RPC error object: one of the table, or a node's own by its code. Clients see `data`. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(kind: RpcErrorName | number, message: string, data?: unknown) {
    super(message);
    this.code = typeof kind === 'number' ? kind : RPC_ERRORS[kind].code;
    this.data = data;
  }
}

/** The error for a request that goes over a limit, as docs/decisions/gateway.md has it. */
export const overLimit = (what: string, limit: number, requested: number): RpcError =>
  new RpcError('limitExceeded', `${what}: at most ${limit}, requested ${requested}`, { limit, requested });

/** The same may be asked again later: its HTTP status, where it is the only answer, with `Retry-After`. */
export class RetryLaterError extends RpcError {
  readonly status: 429 | 503;
  readonly retryAfterSeconds: number;

  constructor(
    message: string,
    { status, retryAfterSeconds, data }: { status: 429 | 503; retryAfterSeconds: number; data?: unknown },
  ) {
    super(status === 429 ? 'limitExceeded' : 'noNode', message, data);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Too many requests: HTTP status 429. */
export class RateLimitedError extends RetryLaterError {
  constructor(message: string, retryAfterSeconds: number, data?: unknown) {
    super(message, { status: 429, retryAfterSeconds, data });
  }
}

/** By then polls have found a node that is back. */
const NO_NODE_RETRY_SECONDS = 1;

/** No node can answer, or the index cannot be read: HTTP status 503. Libraries try -32603 again, and -32002 not. */
export class NoNodeError extends RetryLaterError {
  constructor(
    message = 'no node can answer now; try again',
    reason: 'noNode' | 'noAgreement' | 'noIndex' = 'noNode',
  ) {
    super(message, { status: 503, retryAfterSeconds: NO_NODE_RETRY_SECONDS, data: { reason } });
  }
}
