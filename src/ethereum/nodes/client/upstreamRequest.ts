import type { BudgetClient } from '../../../platform/budgets/index.ts';
import type { Span } from '../../../platform/spans/index.ts';
import type { UpstreamNode } from '../pool/upstreamNode.ts';
import type { FailedRequestError } from './failedRequest.ts';
import type { UpstreamResponse } from './readResponse.ts';
import type { ReceiveReservation } from './responseQuota.ts';
import type { ResponseStream } from './responseStream.ts';

/** What a node's response means for the request. */
export type ResponseClass =
  | 'good'
  /** Another node may have a better response. If no node has one, the client gets this response. */
  | 'elsewhere'
  /** The node's chain has changed: the response belongs to another fork than the head. The client never gets it. */
  | 'otherFork'
  /** The response is provably false. The text is the reason. */
  | { readonly invalid: string };

/**
 * Cause of a response that is larger than `maxBytes`.
 * - `node`: no valid response is so large, so the node is at fault.
 * - `request`: the request asks for so much data, so no node is at fault.
 * - `unclear`: valid responses are seldom so large. The node is at fault if another node sends a much smaller one.
 */
export type OversizeBlame = 'node' | 'request' | 'unclear';

export interface UpstreamRequest {
  readonly method: string;
  readonly body: string;
  /** Body with the hash of the block in place of its number, for nodes that accept hashes. Default: `body`. */
  readonly bodyByHash: string | undefined;
  /** Number of the block that the request needs. Only nodes that have reached this block can answer. */
  readonly needsBlock: number | undefined;
  readonly once: boolean;
  readonly mayStream: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly oversizeBlame: OversizeBlame;
  /** Error of an equal request shortly before, which the request itself caused. Only one more node is then tried. */
  readonly failedBefore: FailedRequestError | undefined;
  /** Nodes to exclude. Each node that is tried is added. Default: the nodes of `failedBefore` are excluded. */
  readonly tried?: Set<UpstreamNode> | undefined;
  /** Client that waits for the response. Clients share the connections and budgets of nodes fairly. Default: all. */
  readonly client?: BudgetClient | undefined;
  /** True if no client waits for the response. The request is then sent only if half of a node's budget is left. */
  readonly isBackground?: boolean;
  /** Reservation of memory for the response; undefined if the response must not fail for lack of memory. */
  readonly reservation: ReceiveReservation | undefined;
  /** Parent of the spans that record this request's attempts. Default: no spans are recorded. */
  readonly span?: Span | undefined;
  /** Node to try first if it is healthy and its budget allows the call, even if it lags. */
  readonly first?: UpstreamNode | undefined;
  readonly neverHedged?: boolean;
  readonly classify: (response: UpstreamResponse, node: UpstreamNode) => ResponseClass;
}

export type HedgedResponse = WholeResponse | StreamedResponse;

export interface WholeResponse {
  readonly node: UpstreamNode;
  readonly response: UpstreamResponse;
}

export interface StreamedResponse {
  readonly node: UpstreamNode;
  readonly stream: ResponseStream;
  readonly failedAt: readonly UpstreamNode[];
}
