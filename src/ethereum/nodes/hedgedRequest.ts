import type { PendingAnswer } from './answerCollector.ts';
import { NoRoomError } from './answerRoom.ts';
import { neverSent } from './connectionError.ts';
import { FailedRequestError, NODES_TO_FAIL_REQUEST } from './failedRequest.ts';
import { asNodeError, NodeError, OtherForkError } from './nodeError.ts';
import { readResponse } from './readResponse.ts';
import { OversizedAnswerError, RequestFaultError } from './requestFault.ts';
import type { UpstreamNode } from './upstreamNode.ts';
import type { HedgedResponse, UpstreamRequest } from './upstreamRequest.ts';

/** Nodes write the same answer at different lengths, but none at more than so many times another's. */
const MAX_LENGTH_RATIO = 2;

/** Where nodes are chosen, and what happened at them is told. */
export interface Upstreams {
  /** The best node that has not been tried; undefined where there is none. */
  choose(tried: ReadonlySet<UpstreamNode>, needsBlock: number | undefined): UpstreamNode | undefined;
  answered(node: UpstreamNode, method: string, elapsedMs: number): void;
  failed(node: UpstreamNode, method: string, error: NodeError): void;
  /** The request has failed at a node by its own fault: nothing is held against the node. */
  failedRequest(node: UpstreamNode, method: string, error: RequestFaultError): void;
  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void;
  hedged(method: string): void;
  /** Asks a node anew for its head. */
  refresh(node: UpstreamNode): Promise<void>;
}

/**
 * One request on its way through the nodes: sent to the next where one fails, and to a second one beside the first where
 * that takes `hedgeDelayMs`; undefined where it never is.
 */
export class HedgedRequest {
  readonly #request: UpstreamRequest;
  readonly #upstreams: Upstreams;
  readonly #tried: Set<UpstreamNode>;
  /** Nodes at which the request has failed by its own fault. */
  readonly #failedAt: UpstreamNode[];
  readonly #running = new Map<UpstreamNode, PendingAnswer>();
  readonly #deadlineMs: number;
  #hedgeDelayMs: number | undefined;
  #hedgeTimer: NodeJS.Timeout | undefined;
  #lastResponse: HedgedResponse | undefined;
  #lastError: NodeError | undefined;
  #requestFault: RequestFaultError | undefined;
  #hedged = false;
  #retried = false;
  #settled = false;
  #resolve: (response: HedgedResponse) => void = () => undefined;
  #reject: (error: NodeError) => void = () => undefined;

  constructor(request: UpstreamRequest, hedgeDelayMs: number | undefined, upstreams: Upstreams) {
    this.#request = request;
    this.#upstreams = upstreams;
    const { failedBefore } = request;
    this.#tried = new Set(failedBefore?.nodes);
    this.#failedAt = [...(failedBefore?.nodes ?? [])];
    this.#requestFault = failedBefore?.cause;
    this.#hedgeDelayMs = hedgeDelayMs;
    this.#deadlineMs = performance.now() + request.timeoutMs;
  }

  run(): Promise<HedgedResponse> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (this.#launch()) return;
      if (this.#requestFault === undefined) this.#finish();
      else this.#fail(this.#hasTime());
    });
  }

  #hasTime(): boolean {
    return performance.now() < this.#deadlineMs;
  }

  #launch(): boolean {
    const leftMs = this.#deadlineMs - performance.now();
    const node = leftMs <= 0 ? undefined : this.#upstreams.choose(this.#tried, this.#request.needsBlock);
    if (node === undefined) return false;
    this.#tried.add(node);
    void this.#attempt(node, leftMs);
    this.#armHedge();
    return true;
  }

  #armHedge(): void {
    clearTimeout(this.#hedgeTimer);
    if (this.#hedgeDelayMs === undefined || !this.#mayHedge()) return;
    this.#hedgeTimer = setTimeout(() => {
      this.#hedged = true;
      if (this.#launch()) this.#upstreams.hedged(this.#request.method);
    }, this.#hedgeDelayMs);
    this.#hedgeDelayMs *= 2;
  }

  /** What may take long by its own fault is asked of two nodes: it shall not keep all of them busy. */
  #mayHedge(): boolean {
    if (this.#failedAt.length > 0) return false;
    return !this.#hedged || this.#request.faultOfSize !== 'request';
  }

  async #attempt(node: UpstreamNode, timeoutMs: number): Promise<void> {
    const { method, bodyByHash, mayStream, maxBytes, room } = this.#request;
    const body = (node.takesHashes === true ? bodyByHash : undefined) ?? this.#request.body;
    const startMs = performance.now();
    const pending = node.client.relay(body, { timeoutMs, maxBytes, mayStream, room });
    this.#running.set(node, pending);
    node.inFlight++;
    try {
      const arrived = await pending.body;
      if (this.#settled) {
        if (arrived.kind === 'stream') arrived.stream.abort();
        return;
      }
      if (arrived.kind === 'stream')
        return this.#settle({ node, stream: arrived.stream, failedAt: this.#failedAt });
      const response = readResponse(arrived.bytes, node.client.host);
      const classified = this.#request.classify(response);
      if (typeof classified === 'object') {
        this.#upstreams.sentInvalidResponse(node, method, classified.invalid);
        this.#lastError = new NodeError('nonsense', classified.invalid);
        return this.#next(node, false);
      }
      this.#upstreams.answered(node, method, performance.now() - startMs);
      if (classified === 'good') {
        // That a node has nothing says nothing of what another has.
        if (response.kind === 'result' && response.value !== null) this.#blameForSize(response.bytes.length);
        return this.#settle({ node, response });
      }
      if (classified === 'otherFork') {
        this.#lastError = new OtherForkError(node.client.host);
        void this.#upstreams.refresh(node);
        return this.#next(node, false);
      }
      this.#lastResponse = { node, response };
      this.#next(node, false);
    } catch (error) {
      if (this.#settled) return node.slow(performance.now() - startMs);
      const failure = asNodeError(error);
      if (failure instanceof NoRoomError) return this.#giveUp(failure);
      if (failure instanceof RequestFaultError && !this.#isNodesFault(failure))
        return this.#requestFailed(node, failure);
      this.#upstreams.failed(node, method, failure);
      this.#lastError = failure;
      this.#next(node, failure.reason === 'unreachable');
    } finally {
      node.inFlight--;
      this.#running.delete(node);
    }
  }

  /** A node was asked in vain: what now. */
  #next(node: UpstreamNode, brokeOff: boolean): void {
    this.#running.delete(node);
    const { once } = this.#request;
    if (this.#requestFault !== undefined) return this.#running.size === 0 ? this.#fail(false) : undefined;
    if (once && !(this.#lastError !== undefined && neverSent(this.#lastError))) return this.#finish();
    if (this.#launch()) return;
    // A connection kept alive that the node had just closed fails like a dead node: one more try, on a new one.
    if (brokeOff && !once && !this.#retried) {
      this.#retried = true;
      this.#tried.delete(node);
      if (this.#launch()) return;
    }
    if (this.#running.size === 0) this.#finish();
  }

  #isNodesFault(fault: RequestFaultError): boolean {
    return fault instanceof OversizedAnswerError && this.#request.faultOfSize === 'node';
  }

  /** The request has failed by its own fault: it may fare better at one other node, which may have been asked already. */
  #requestFailed(node: UpstreamNode, fault: RequestFaultError): void {
    clearTimeout(this.#hedgeTimer);
    this.#running.delete(node);
    this.#failedAt.push(node);
    this.#requestFault = fault;
    this.#upstreams.failedRequest(node, this.#request.method, fault);
    if (this.#failedAt.length >= NODES_TO_FAIL_REQUEST || this.#request.once) return this.#fail(true);
    if (this.#running.size === 0 && !this.#launch()) this.#fail(this.#hasTime());
  }

  /** Another node has given an answer: those that gave a far larger one of what is small by nature are at fault. */
  #blameForSize(bytes: number): void {
    const { faultOfSize, failedBefore, maxBytes, method } = this.#request;
    const fault = this.#requestFault;
    if (faultOfSize !== 'unclear' || !(fault instanceof OversizedAnswerError)) return;
    if (bytes * MAX_LENGTH_RATIO > maxBytes) return;
    for (const node of this.#failedAt)
      if (failedBefore?.nodes.includes(node) !== true) this.#upstreams.failed(node, method, fault);
  }

  /** Gives the request up by its own fault. */
  #fail(isFinal: boolean): void {
    const fault = this.#requestFault;
    if (fault !== undefined) this.#giveUp(new FailedRequestError(fault, this.#failedAt, isFinal));
  }

  #finish(): void {
    if (this.#lastResponse !== undefined) return this.#settle(this.#lastResponse);
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#hedgeTimer);
    this.#reject(this.#lastError ?? new NodeError('unreachable', 'no node can be asked now'));
  }

  /** No node is to be asked any more, and none has failed. */
  #giveUp(error: NodeError): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#hedgeTimer);
    this.#reject(error);
    for (const pending of this.#running.values()) pending.abort();
  }

  #settle(response: HedgedResponse): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#hedgeTimer);
    this.#resolve(response);
    for (const [node, pending] of this.#running) if (node !== response.node) pending.abort();
  }
}
