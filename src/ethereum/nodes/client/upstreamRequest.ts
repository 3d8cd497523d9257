import type { Span } from '../../../platform/spans/index.ts';
import type { UpstreamNode } from '../pool/upstreamNode.ts';
import type { FailedRequestError } from './failedRequest.ts';
import type { UpstreamResponse } from './readResponse.ts';
import type { ReceiveReservation } from './responseQuota.ts';
import type { ResponseStream } from './responseStream.ts';

/** Classification of a node's response. */
export type ResponseClass =
  | 'good'
  /** Another node may have a better response; if none has, this one is returned. */
  | 'elsewhere'
  /** The response belongs to another fork than the head because the node's chain changed. Never returned. */
  | 'otherFork'
  /** The response is provably false; the text has the reason. */
  | { readonly invalid: string };

/**
 * Cause of a response above `maxBytes`.
 * - `node`: no valid response is so large.
 * - `request`: the request asks for so much data.
 * - `unclear`: valid responses are seldom so large. The node is at fault if another sends a much smaller one.
 */
export type OversizeBlame = 'node' | 'request' | 'unclear';

export interface UpstreamRequest {
  readonly method: string;
  readonly body: string;
  /** The body with a block hash in place of the number, for nodes that support it; undefined if there is none. */
  readonly bodyByHash: string | undefined;
  /** Only nodes whose head has reached this block can answer. */
  readonly needsBlock: number | undefined;
  readonly once: boolean;
  readonly mayStream: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly oversizeBlame: OversizeBlame;
  /** Failure of an equal request shortly before, caused by the request. Only one more node is then tried. */
  readonly failedBefore: FailedRequestError | undefined;
  /** Nodes to exclude; the nodes that are tried are added. Default: only the nodes of `failedBefore` are excluded. */
  readonly tried?: Set<UpstreamNode> | undefined;
  /** Returns the client's key. Clients share the budgets of nodes fairly. */
  readonly client?: (() => string) | undefined;
  /** Whether no client waits for the request. It is then sent only if the budgets have a large reserve. */
  readonly isBackground?: boolean;
  /** Memory quota for the response; undefined if the response must not fail because of the quota. */
  readonly reservation: ReceiveReservation | undefined;
  /** Parent span. Default: the request is not traced. */
  readonly span?: Span | undefined;
  readonly classify: (response: UpstreamResponse) => ResponseClass;
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
