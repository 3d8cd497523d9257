/**
 * All JSON-RPC errors of the gateway. Tests iterate over this table, and a part of docs/reference/errors.md is
 * generated from the table. Codes -32700 to -32600 are from JSON-RPC 2.0; -32005 and -32001 are from EIP-1474.
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
    meaning: 'A bug in the gateway; the message contains the request id to look up in the log.',
  },
  noNode: {
    code: -32603,
    meaning:
      'No node is available, even after a wait: `data` is `{"reason":"noNode"}`, or `noIndex` if a shared index cannot be read; HTTP status 503; try again.',
  },
  unauthorized: {
    code: -32000,
    meaning:
      'API keys are required, and the request has none or an unknown one, or its key ended or was restricted during the call.',
  },
  filterNotFound: {
    code: -32000,
    meaning:
      'The filter does not exist: uninstalled, not polled for 5 minutes, ended with its API key, ended by a restart, or ended because logs would have been lost; create a new one.',
  },
  transactionNotFound: {
    code: -32000,
    meaning: 'No block contains the transaction of an `ots_` method.',
  },
  resourceNotFound: {
    code: -32001,
    meaning:
      'A block is not in the index and cannot be added now, no node can trace it, its traces are damaged, or the block of a cursor was replaced; `data` has `blockNumber` and, for the last three, `reason`. Or the index does not prove the result, because a record is missing or damaged: `data` is `{"reason":"unproven"}`.',
  },
  resourceUnavailable: {
    code: -32002,
    meaning:
      'The server is stopping, API keys cannot be checked, the index is not ready for a summary, the disk has no space for a block that is not indexed, or it is unknown whether a transaction was accepted; the message contains advice.',
  },
  limitExceeded: {
    code: -32005,
    meaning:
      'The request or its result exceeds a limit; `data` has the limit and, if known, the requested amount.',
  },
} as const;

export type RpcErrorName = keyof typeof RPC_ERRORS;

/** JSON-RPC error for the client: an entry of RPC_ERRORS, or a node's error with its code. Clients receive `data`. */
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

/** Returns the error for a request that exceeds a limit; see docs/internals/decisions/gateway.md. */
export const overLimit = (what: string, limit: number, requested: number): RpcError =>
  new RpcError('limitExceeded', `${what}: at most ${limit}, requested ${requested}`, { limit, requested });

/** Error of a request that may be retried. The response to a single call has this HTTP status and `Retry-After`. */
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

/** A client sent too many requests. The HTTP status is 429. */
export class RateLimitedError extends RetryLaterError {
  constructor(message: string, retryAfterSeconds: number, data?: unknown) {
    super(message, { status: 429, retryAfterSeconds, data });
  }
}

/** Value of `Retry-After` if no node is available. Polls detect that a node has recovered within this time. */
const NO_NODE_RETRY_SECONDS = 1;

/**
 * No node is available, or the index cannot be read. The HTTP status is 503. The code is -32603, because client
 * libraries retry calls that fail with this code, but not calls that fail with -32002.
 */
export class NoNodeError extends RetryLaterError {
  constructor(
    message = 'no node can answer now; try again',
    reason: 'noNode' | 'noAgreement' | 'noIndex' = 'noNode',
  ) {
    super(message, { status: 503, retryAfterSeconds: NO_NODE_RETRY_SECONDS, data: { reason } });
  }
}
