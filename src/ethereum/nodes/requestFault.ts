import type { UpstreamNode } from './node.ts';
import { NodeError } from './source.ts';

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

/** Nodes at which a request fails by its own fault before it is given up: what two cannot do is not asked of all. */
export const NODES_TO_FAIL_REQUEST = 2;

/** A request that has failed by its own fault. */
export class FailedRequestError extends NodeError {
  override readonly cause: RequestFaultError;
  /** The nodes at which it has. */
  readonly nodes: readonly UpstreamNode[];
  /** No other node could be asked, or another fared the same. */
  readonly isFinal: boolean;

  constructor(cause: RequestFaultError, nodes: readonly UpstreamNode[], isFinal: boolean) {
    super(cause.reason, cause.message);
    this.cause = cause;
    this.nodes = nodes;
    this.isFinal = isFinal;
  }
}
