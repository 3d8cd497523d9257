import type { Span } from '../../platform/spans/index.ts';
import type { PendingAnswer } from './answerCollector.ts';
import { NoRoomError } from './answerRoom.ts';
import { callSpan } from './callSpan.ts';
import { neverSent } from './connectionError.ts';
import { FailedRequestError, NODES_TO_FAIL_REQUEST } from './failedRequest.ts';
import { asNodeError, NodeBusyError, NodeError, OtherForkError } from './nodeError.ts';
import { readResponse } from './readResponse.ts';
import { OversizedAnswerError, RequestFaultError } from './requestFault.ts';
import { Suspects } from './suspects.ts';
import type { UpstreamNode } from './upstreamNode.ts';
import type { HedgedResponse, UpstreamRequest } from './upstreamRequest.ts';
import type { Upstreams } from './upstreams.ts';

/** Nodes write the same answer at different lengths, but none at more than so many times another's. */
const MAX_LENGTH_RATIO = 2;

/** A failure that took longer has cost its node something: it is not asked of all of them. */
const COSTLY_MS = 1_000;
/** The word of a span for an answer that nobody waited for any more. */
const GIVEN_UP = 'given_up';
/** What is left when a timer fired a little early is no time for another try. */
const MIN_TRY_MS = 5;

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
  readonly #suspects: Suspects;
  readonly #deadlineMs: number;
  #costlyFailures = 0;
  #hedgeDelayMs: number | undefined;
  #hedgeTimer: NodeJS.Timeout | undefined;
  #lastResponse: HedgedResponse | undefined;
  #lastError: NodeError | undefined;
  #requestFault: RequestFaultError | undefined;
  #retried = false;
  #settled = false;
  #resolve: (response: HedgedResponse) => void = () => undefined;
  #reject: (error: NodeError) => void = () => undefined;

  constructor(request: UpstreamRequest, hedgeDelayMs: number | undefined, upstreams: Upstreams) {
    this.#request = request;
    this.#upstreams = upstreams;
    this.#suspects = new Suspects(upstreams, request.method);
    const { failedBefore } = request;
    this.#tried = request.tried ?? new Set(failedBefore?.nodes);
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
      if (this.#requestFault === undefined) void this.#lastResort();
      else this.#fail(this.#leftMs > 0);
    });
  }

  get #leftMs(): number {
    return this.#deadlineMs - performance.now();
  }

  #launch(): boolean {
    const leftMs = this.#leftMs;
    const urgency = this.#retried || this.#tried.size > 0 ? 'retry' : 'firstTry';
    const node =
      leftMs < MIN_TRY_MS
        ? undefined
        : this.#upstreams.choose(this.#tried, this.#request.needsBlock, urgency);
    if (node === undefined) return false;
    this.#tried.add(node);
    void this.#attempt(node, leftMs);
    this.#armHedge();
    return true;
  }

  #armHedge(): void {
    clearTimeout(this.#hedgeTimer);
    if (this.#hedgeDelayMs === undefined || this.#failedAt.length > 0) return;
    this.#hedgeTimer = setTimeout(() => {
      if (this.#mayHedge() && this.#launch()) this.#upstreams.hedged(this.#request.method);
      else this.#armHedge();
    }, this.#hedgeDelayMs);
    this.#hedgeDelayMs *= 2;
  }

  /**
   * What may take long by its own fault is asked of two nodes: it shall not keep all of them busy. One that has fallen silent
   * meanwhile, as its polls tell, is none of the two.
   */
  #mayHedge(): boolean {
    return this.#request.faultOfSize !== 'request' || this.#busyNodes < NODES_TO_FAIL_REQUEST;
  }

  /** Those that work on it, and those that have for long in vain. */
  get #busyNodes(): number {
    const running = [...this.#running.keys()].filter(({ health }) => health === 'healthy');
    return this.#costlyFailures + running.length;
  }

  async #attempt(node: UpstreamNode, timeoutMs: number): Promise<void> {
    const { method, bodyByHash, mayStream, maxBytes, room } = this.#request;
    const body = (node.takesHashes === true ? bodyByHash : undefined) ?? this.#request.body;
    const startMs = performance.now();
    const span = this.#request.span && this.#spanOf(this.#request.span, node);
    let failure: string | undefined;
    const traceparent = span?.traceparent;
    const pending = node.client.relay(body, { timeoutMs, maxBytes, mayStream, room, traceparent });
    this.#running.set(node, pending);
    node.inFlight++;
    try {
      const arrived = await pending.body;
      if (this.#settled) {
        if (arrived.kind === 'stream') arrived.stream.abort();
        failure = GIVEN_UP;
        return;
      }
      if (arrived.kind === 'stream') {
        this.#suspects.over();
        return this.#settle({ node, stream: arrived.stream, failedAt: this.#failedAt });
      }
      const response = readResponse(arrived.bytes, node.client.host);
      const classified = this.#request.classify(response);
      if (typeof classified === 'object') {
        this.#lastError = new NodeError('nonsense', classified.invalid);
        failure = this.#lastError.reason;
        this.#upstreams.failedRequest(node, method, this.#lastError);
        this.#suspects.sentInvalidResponse(node, classified.invalid);
        return this.#next(node, false);
      }
      this.#upstreams.answered(node, method, performance.now() - startMs);
      if (classified === 'good') {
        this.#suspects.anotherAnswered();
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
      this.#countCost(startMs);
      this.#next(node, false);
    } catch (error) {
      const known = asNodeError(error);
      failure = this.#settled ? GIVEN_UP : known.reason;
      this.#failed(node, known, startMs);
    } finally {
      node.inFlight--;
      this.#running.delete(node);
      span?.end(failure);
    }
  }

  #failed(node: UpstreamNode, failure: NodeError, startMs: number): void {
    if (this.#settled) return node.slow(performance.now() - startMs);
    if (failure instanceof NoRoomError) return this.#giveUp(failure);
    if (failure instanceof RequestFaultError && !this.#isNodesFault(failure))
      return this.#requestFailed(node, failure);
    this.#upstreams.failedRequest(node, this.#request.method, failure);
    if (this.#isNodesFault(failure)) this.#upstreams.heldAgainst(node, failure);
    else this.#suspects.failed(node, failure);
    this.#lastError = failure;
    this.#countCost(startMs);
    this.#next(node, failure.reason === 'unreachable');
  }

  #spanOf(parent: Span, node: UpstreamNode): Span {
    const span = callSpan(parent, node.client.host, [this.#request]);
    span.set('floodgate.node', node.name);
    return span;
  }

  /** A node was asked in vain: what now. */
  #next(node: UpstreamNode, brokeOff: boolean): void {
    this.#running.delete(node);
    const { once } = this.#request;
    if (this.#requestFault !== undefined) return this.#running.size === 0 ? this.#fail(false) : undefined;
    if (once && !(this.#lastError !== undefined && neverSent(this.#lastError))) return this.#finish();
    if (this.#costlyFailures > 0 && this.#busyNodes >= NODES_TO_FAIL_REQUEST)
      return this.#running.size === 0 ? this.#finish() : undefined;
    if (this.#launch()) return;
    // A connection kept alive that the node had just closed fails like a dead node: one more try, on a new one.
    if (brokeOff && !once && !this.#retried) {
      this.#retried = true;
      this.#tried.delete(node);
      if (this.#launch()) return;
    }
    if (this.#running.size === 0) void this.#lastResort();
  }

  /** All that have come to the block were asked: others may have by now, and were not polled since. */
  async #lastResort(): Promise<void> {
    const { needsBlock } = this.#request;
    const isCaughtUp =
      needsBlock !== undefined && (await this.#upstreams.catchUp(this.#tried, needsBlock, this.#leftMs));
    if (this.#running.size > 0 || (isCaughtUp && this.#launch())) return;
    this.#finish();
  }

  #countCost(startMs: number): void {
    if (performance.now() - startMs > COSTLY_MS) this.#costlyFailures++;
  }

  /** What no request can cause: there is no other node to be asked first. */
  #isNodesFault(failure: NodeError): boolean {
    if (failure instanceof OversizedAnswerError) return this.#request.faultOfSize === 'node';
    return neverSent(failure) || failure instanceof NodeBusyError;
  }

  /** The request has failed by its own fault: it may fare better at one other node, which may have been asked already. */
  #requestFailed(node: UpstreamNode, fault: RequestFaultError): void {
    clearTimeout(this.#hedgeTimer);
    this.#running.delete(node);
    this.#failedAt.push(node);
    this.#requestFault = fault;
    this.#upstreams.failedRequest(node, this.#request.method, fault);
    if (this.#failedAt.length >= NODES_TO_FAIL_REQUEST || this.#request.once) return this.#fail(true);
    if (this.#running.size === 0 && !this.#launch()) this.#fail(this.#leftMs > 0);
  }

  /** Another node has given an answer: those that gave a far larger one of what is small by nature are at fault. */
  #blameForSize(bytes: number): void {
    const { faultOfSize, failedBefore, maxBytes } = this.#request;
    const fault = this.#requestFault;
    if (faultOfSize !== 'unclear' || !(fault instanceof OversizedAnswerError)) return;
    if (bytes * MAX_LENGTH_RATIO > maxBytes) return;
    for (const node of this.#failedAt)
      if (failedBefore?.nodes.includes(node) !== true) this.#upstreams.heldAgainst(node, fault);
  }

  /** Gives the request up by its own fault. */
  #fail(isFinal: boolean): void {
    const fault = this.#requestFault;
    this.#suspects.over();
    if (fault !== undefined) this.#giveUp(new FailedRequestError(fault, this.#failedAt, isFinal));
  }

  #finish(): void {
    this.#suspects.over();
    if (this.#lastResponse !== undefined) return this.#settle(this.#lastResponse);
    this.#giveUp(this.#suspects.failure(this.#lastError, this.#request));
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
