import { notSent } from './connectionError.ts';
import { FailedRequestError } from './failedRequest.ts';
import { NodeError } from './nodeError.ts';
import { SlowRequestError } from './requestFault.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Where it is told whose fault a failure is. */
interface Judge {
  heldAgainst(node: UpstreamNode, error: NodeError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
}

interface FailedRequest {
  readonly timeoutMs: number;
  readonly once: boolean;
}

/**
 * The nodes at which one request has failed in a way that it may have caused itself. What fares the same at another node is
 * the request's; where another one answers, it is the node's. So no client takes a good node out of rotation.
 */
export class Suspects {
  readonly #judge: Judge;
  readonly #method: string;
  readonly #failures: { readonly node: UpstreamNode; readonly error: NodeError }[] = [];
  readonly #invalid: { readonly node: UpstreamNode; readonly reason: string }[] = [];
  #hasAnswer = false;

  constructor(judge: Judge, method: string) {
    this.#judge = judge;
    this.#method = method;
  }

  failed(node: UpstreamNode, error: NodeError): void {
    this.#failures.push({ node, error });
  }

  /** What the node answered cannot be true. */
  sentInvalidResponse(node: UpstreamNode, reason: string): void {
    this.#invalid.push({ node, reason });
  }

  /** Another node has given a good answer. */
  anotherAnswered(): void {
    this.#hasAnswer = true;
    for (const { node, error } of this.#failures) this.#judge.heldAgainst(node, error);
    this.#condemn();
  }

  /** No node is asked any more. A false answer that no other node repeated is its node's. */
  over(): void {
    if (!this.#hasAnswer && this.#invalid.length === 1) this.#condemn();
  }

  /** What a request has failed with that no node answered; `last` is undefined where none was asked. */
  failure(last: NodeError | undefined, { timeoutMs, once }: FailedRequest): NodeError {
    if (last === undefined) return notSent(new NodeError('unreachable', 'no node can be asked now'));
    // A node that answers polls meanwhile is not away: what it is asked takes too long.
    const slow = this.#failures.flatMap(({ node, error }) =>
      error.reason === 'timeout' && node.health === 'healthy' ? node : [],
    );
    if (last.reason !== 'timeout' || slow.length === 0 || once) return last;
    return new FailedRequestError(new SlowRequestError(timeoutMs), slow, true);
  }

  #condemn(): void {
    for (const { node, reason } of this.#invalid) this.#judge.sentInvalidResponse(node, this.#method, reason);
  }
}
