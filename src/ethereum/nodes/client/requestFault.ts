import { NodeError } from './nodeError.ts';

/** A failure that a request may cause at any node. It does not affect a node's health by itself. */
export class RequestFaultError extends NodeError {}

/** A node's response is larger than the limit for the request. */
export class OversizedResponseError extends RequestFaultError {
  readonly maxBytes: number;

  constructor(host: string, maxBytes: number) {
    super('oversized', `${host} answered with more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** A node, or a proxy before it, rejected a request as too large, with HTTP status 413. */
export class OversizedRequestError extends RequestFaultError {
  constructor(host: string) {
    super('oversized', `${host} rejected the request as too large (HTTP status 413)`);
  }
}

/** No healthy node responded to a request in time. */
export class SlowRequestError extends RequestFaultError {
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super('timeout', `no node answered within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}
