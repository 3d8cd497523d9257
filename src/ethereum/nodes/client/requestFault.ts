import { NodeError } from './nodeError.ts';

/** A failure that the request causes at any node. It has no effect on a node's health. */
export class RequestFaultError extends NodeError {}

/** The response is larger than allowed. */
export class OversizedResponseError extends RequestFaultError {
  readonly maxBytes: number;

  constructor(host: string, maxBytes: number) {
    super('oversized', `${host} answered with more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** HTTP 413: the request is too large for the node or for a proxy before it. */
export class OversizedRequestError extends RequestFaultError {
  constructor(host: string) {
    super('oversized', `${host} rejected the request as too large (HTTP status 413)`);
  }
}

/** No healthy node responded in time. */
export class SlowRequestError extends RequestFaultError {
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super('timeout', `no node answered within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}
