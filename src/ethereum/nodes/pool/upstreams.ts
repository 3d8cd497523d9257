import type { Urgency } from '../client/nodeBudget.ts';
import type { NodeError } from '../client/nodeError.ts';
import type { UpstreamNode } from './upstreamNode.ts';

export interface WantedNode {
  readonly tried: ReadonlySet<UpstreamNode>;
  readonly needsBlock: number | undefined;
  readonly first?: UpstreamNode | undefined;
}

/** Access of a request to the nodes: chooses a node for each attempt, and records the result of the attempt. */
export interface Upstreams {
  /** Returns `first` or the best node, if it is not in `tried`; undefined if none is available. */
  choose(wanted: WantedNode, urgency: Urgency): UpstreamNode | undefined;
  /** Polls the untried healthy nodes. Resolves with true if one has the block in time, otherwise with false. */
  catchUp(tried: ReadonlySet<UpstreamNode>, needsBlock: number, timeoutMs: number): Promise<boolean>;
  answered(node: UpstreamNode, method: string, elapsedMs: number): void;
  /** Records that a request failed at a node. Does not affect the node's health: the request may be the cause. */
  failedRequest(node: UpstreamNode, method: string, error: NodeError): void;
  /** Counts a failure against the node's health, after it was recorded with `failedRequest`. */
  blameNode(node: UpstreamNode, error: NodeError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
  /** Records that a node was slow, so that its request was sent to another node. */
  hedged(slow: UpstreamNode, method: string): void;
  refresh(node: UpstreamNode): Promise<void>;
}
