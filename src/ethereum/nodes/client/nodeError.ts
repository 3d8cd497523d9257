/** A node did not respond, or its response cannot be used. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** Kind of the failure. It is one of a few fixed words, because it becomes a label of a metric. */
  readonly reason: 'unreachable' | 'timeout' | 'refused' | 'nonsense' | 'oversized';

  constructor(reason: NodeError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export function asNodeError(error: unknown): NodeError {
  if (error instanceof NodeError) return error;
  return new NodeError('nonsense', error instanceof Error ? error.message : String(error), { cause: error });
}

export class CallError extends NodeError {
  readonly code: number;

  constructor(message: string, code: number) {
    super('refused', message);
    this.code = code;
  }
}

/** A node, or a proxy before it, returned an HTTP error status without a JSON-RPC response. */
export class HttpStatusError extends NodeError {
  readonly status: number;

  constructor(message: string, status: number) {
    super('refused', message);
    this.status = status;
  }
}

/** A node returned HTTP status 429: it is up, but limits the rate of requests. */
export class NodeBusyError extends NodeError {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super('refused', message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A node's response belongs to another fork than the head. */
export class OtherForkError extends NodeError {
  constructor(host: string) {
    super('nonsense', `${host} is on another fork than the head`);
  }
}
