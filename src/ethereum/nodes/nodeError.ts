/** A node did not answer, or what it answered cannot be used. */
export class NodeError extends Error {
  override readonly name = 'NodeError';
  /** Why, as one of few words: it labels a metric. */
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

/** HTTP 429: the node is alive, and wants fewer requests. */
export class NodeBusyError extends NodeError {
  readonly retryAfterMs: number;

  constructor(message: string, retryAfterMs: number) {
    super('refused', message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A node answered of another fork than the head's. */
export class OtherForkError extends NodeError {
  constructor(host: string) {
    super('nonsense', `${host} is on another fork than the head`);
  }
}
