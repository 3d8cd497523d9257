import type { UpstreamNode } from '../pool/upstreamNode.ts';
import { NodeError } from './nodeError.ts';
import type { RequestFaultError } from './requestFault.ts';

/** If a request fails at this many nodes, and may itself be the cause, it is not sent to further nodes. */
export const NODES_TO_FAIL_REQUEST = 2;

/** A request failed because of what it asks for, not because of a node. */
export class FailedRequestError extends NodeError {
  override readonly cause: RequestFaultError;
  /** Nodes at which the request failed. */
  readonly nodes: readonly UpstreamNode[];
  /** True if equal requests are not sent again: a second node failed in the same way, or no other was available. */
  readonly isFinal: boolean;

  constructor(cause: RequestFaultError, nodes: readonly UpstreamNode[], isFinal: boolean) {
    super(cause.reason, cause.message);
    this.cause = cause;
    this.nodes = nodes;
    this.isFinal = isFinal;
  }
}
