import type { Span } from '../../platform/spans/index.ts';
import type { ArrivalRoom } from './answerRoom.ts';
import type { AnswerStream } from './answerStream.ts';
import type { FailedRequestError } from './failedRequest.ts';
import type { UpstreamResponse } from './readResponse.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** What a node's response is worth. */
export type ResponseClass =
  | 'good'
  /** Another node may do better; this one is the answer where all say so. */
  | 'elsewhere'
  /** It is of another fork than the head: the node has changed its chain since it was polled. Never the answer. */
  | 'otherFork'
  /** It cannot be true; the text says why. */
  | { readonly invalid: string };

/**
 * Whose fault an answer above `maxBytes` is.
 * - `node`: no true one is so large.
 * - `request`: it asks for so much.
 * - `unclear`: a true one is seldom so large: the node's where another one gives a much smaller one.
 */
export type FaultOfSize = 'node' | 'request' | 'unclear';

/** A client's request on its way to the nodes. */
export interface UpstreamRequest {
  readonly method: string;
  readonly body: string;
  /** The same with the block named by its hash, for nodes that take that; undefined where it is not. */
  readonly bodyByHash: string | undefined;
  /** Only nodes whose head has come so far can answer. */
  readonly needsBlock: number | undefined;
  readonly once: boolean;
  readonly mayStream: boolean;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly faultOfSize: FaultOfSize;
  /** The same request has failed lately, by its own fault: one more node is asked, and no other. */
  readonly failedBefore: FailedRequestError | undefined;
  /** Nodes that are not asked, to which those that are asked are added; left out: only those of `failedBefore` are not. */
  readonly tried?: Set<UpstreamNode> | undefined;
  /** Who asks: clients share fairly what budgets nodes have. */
  readonly client?: (() => string) | undefined;
  /** Nobody waits for it: it is asked only where budgets are plenty. */
  readonly isBackground?: boolean;
  /** Room for what arrives; undefined where an answer must not fail for want of it. */
  readonly room: ArrivalRoom | undefined;
  /** What it is a part of; left out: nothing that is traced. */
  readonly span?: Span | undefined;
  readonly classify: (response: UpstreamResponse) => ResponseClass;
}

/** What the nodes made of a request: a response of one of them, or a stream of one. */
export type HedgedResponse = WholeResponse | StreamedResponse;

export interface WholeResponse {
  readonly node: UpstreamNode;
  readonly response: UpstreamResponse;
}

export interface StreamedResponse {
  readonly node: UpstreamNode;
  readonly stream: AnswerStream;
  /** Nodes at which the request has failed by its own fault before. */
  readonly failedAt: readonly UpstreamNode[];
}
