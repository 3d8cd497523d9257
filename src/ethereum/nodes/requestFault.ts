import { NodeError } from './nodeError.ts';

/** What a request causes, at whatever node gets it: it says nothing of the node. */
export class RequestFaultError extends NodeError {}

/** The answer is larger than it may be. */
export class OversizedAnswerError extends RequestFaultError {
  readonly maxBytes: number;

  constructor(host: string, maxBytes: number) {
    super('oversized', `${host} answered with more than ${maxBytes} bytes`);
    this.maxBytes = maxBytes;
  }
}

/** HTTP 413: the request is larger than the node takes, or a proxy before it. */
export class OversizedRequestError extends RequestFaultError {
  constructor(host: string) {
    super('oversized', `${host} takes no request as large as this (HTTP status 413)`);
  }
}

/** No node that is well otherwise has answered in time. */
export class SlowRequestError extends RequestFaultError {
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super('timeout', `no node answered within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
  }
}
