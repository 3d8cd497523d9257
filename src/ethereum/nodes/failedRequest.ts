import { NodeError } from './nodeError.ts';
import type { RequestFaultError } from './requestFault.ts';
import type { UpstreamNode } from './upstreamNode.ts';

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
