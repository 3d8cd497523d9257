import { notSent } from '../client/connectionError.ts';
import { FailedRequestError } from '../client/failedRequest.ts';
import { NodeError } from '../client/nodeError.ts';
import { SlowRequestError } from '../client/requestFault.ts';
import type { UpstreamNode } from '../pool/upstreamNode.ts';

interface Judge {
  blameNode(node: UpstreamNode, error: NodeError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
}

interface FailedRequest {
  readonly timeoutMs: number;
  readonly once: boolean;
}

/**
 * Nodes at which one request failed in a way that the request may have caused. If another node responds, the failed
 * nodes are blamed. If no node responds, none of these failures counts against a node, so that a client cannot take a
 * good node out of rotation.
 */
export class FaultAttribution {
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

  sentInvalidResponse(node: UpstreamNode, reason: string): void {
    this.#invalid.push({ node, reason });
  }

  anotherAnswered(): void {
    this.#hasAnswer = true;
    for (const { node, error } of this.#failures) this.#judge.blameNode(node, error);
    this.#condemn();
  }

  /** To be called when no further node is tried. If exactly one node sent a false response, reports this node. */
  finish(): void {
    if (!this.#hasAnswer && this.#invalid.length === 1) this.#condemn();
  }

  /** Returns the error of a request that no node answered; `last` is that of the last attempt, if there was one. */
  failure(last: NodeError | undefined, { timeoutMs, once }: FailedRequest): NodeError {
    if (last === undefined) return notSent(new NodeError('unreachable', 'no node is available'));
    // A node that is still healthy answers polls in time, so the request itself is too slow.
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
