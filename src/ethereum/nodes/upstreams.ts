import type { Urgency } from './nodeBudget.ts';
import type { NodeError } from './nodeError.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Where nodes are chosen, and what happened at them is told. */
export interface Upstreams {
  /** The best node that has not been tried; undefined where there is none. */
  choose(
    tried: ReadonlySet<UpstreamNode>,
    needsBlock: number | undefined,
    urgency: Urgency,
  ): UpstreamNode | undefined;
  /** Resolves with whether a node that has not been tried, and was behind the block, has come to it within the time. */
  catchUp(tried: ReadonlySet<UpstreamNode>, needsBlock: number, timeoutMs: number): Promise<boolean>;
  answered(node: UpstreamNode, method: string, elapsedMs: number): void;
  /** The request has failed at a node, perhaps by its own fault: nothing is held against the node. */
  failedRequest(node: UpstreamNode, method: string, error: NodeError): void;
  /** A failure that was told of is the node's. */
  heldAgainst(node: UpstreamNode, error: NodeError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
  hedged(method: string): void;
  /** Asks a node anew for its head. */
  refresh(node: UpstreamNode): Promise<void>;
}
