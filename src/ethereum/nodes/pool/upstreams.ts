import type { Urgency } from '../client/nodeBudget.ts';
import type { NodeError } from '../client/nodeError.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Chooses nodes for requests and records the results. */
export interface Upstreams {
  /** Returns the best untried node; undefined if none is available. */
  choose(
    tried: ReadonlySet<UpstreamNode>,
    needsBlock: number | undefined,
    urgency: Urgency,
  ): UpstreamNode | undefined;
  /** Resolves with true if an untried node that lagged reaches the block in time, otherwise with false. */
  catchUp(tried: ReadonlySet<UpstreamNode>, needsBlock: number, timeoutMs: number): Promise<boolean>;
  answered(node: UpstreamNode, method: string, elapsedMs: number): void;
  /** Records a failure that the request may have caused, without effect on the node's health. */
  failedRequest(node: UpstreamNode, method: string, error: NodeError): void;
  /** Counts a recorded failure against the node's health. */
  blameNode(node: UpstreamNode, error: NodeError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
  hedged(method: string): void;
  refresh(node: UpstreamNode): Promise<void>;
}
