import type { ArrivalRoom } from './answerRoom.ts';
import type { AnswerStream } from './answerStream.ts';
import type { UpstreamNode } from './node.ts';
import type { Block } from './nodePoll.ts';
import type { NodeAnswer } from './readAnswer.ts';
import type { FailedRequestError } from './requestFault.ts';
import { NodeError } from './source.ts';

/** What an answer is worth. */
export type Verdict =
  | 'good'
  /** Another node may do better; this one is the answer where all say so. */
  | 'elsewhere'
  /** It is of another fork than the head: the node has changed its chain since it was polled. Never the answer. */
  | 'otherFork'
  /** It cannot be true; the text says why. */
  | { readonly falsehood: string };

/**
 * Whose fault an answer above `maxBytes` is.
 * - `node`: no true one is so large.
 * - `request`: it asks for so much.
 * - `unclear`: a true one is seldom so large: the node's where another one gives a much smaller one.
 */
export type FaultOfSize = 'node' | 'request' | 'unclear';

export interface Question {
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
  /** Room for what arrives; undefined where an answer must not fail for want of it. */
  readonly room: ArrivalRoom | undefined;
  readonly judge: (answer: NodeAnswer) => Verdict;
}

/** A node answered of another fork than the head's. */
export class OtherForkError extends NodeError {
  constructor(host: string) {
    super('nonsense', `${host} is on another fork than the head`);
  }
}

export type Answered =
  | { readonly node: UpstreamNode; readonly answer: NodeAnswer }
  | {
      readonly node: UpstreamNode;
      readonly stream: AnswerStream;
      /** Nodes at which the request has failed by its own fault before. */
      readonly failedAt: readonly UpstreamNode[];
    };

/** Hears what happens to nodes, for logs and metrics. Nodes are named by their place in the configuration. */
export interface PoolObserver {
  answered(node: UpstreamNode, method: string, elapsedMs: number): void;
  failed(node: UpstreamNode, method: string, error: NodeError): void;
  lied(node: UpstreamNode, method: string, falsehood: string): void;
  hedged(method: string): void;
  standing(node: UpstreamNode, reason: string): void;
  headWentBack(from: Block, to: Block): void;
}

export function asNodeError(error: unknown): NodeError {
  if (error instanceof NodeError) return error;
  return new NodeError('nonsense', error instanceof Error ? error.message : String(error), { cause: error });
}
