import { inBackground } from '../../../platform/background/index.ts';
import type { Span } from '../../../platform/spans/index.ts';
import { callSpan } from '../client/callSpan.ts';
import { neverSent } from '../client/connectionError.ts';
import { FailedRequestError, NODES_TO_FAIL_REQUEST } from '../client/failedRequest.ts';
import { asNodeError, NodeBusyError, NodeError, OtherForkError } from '../client/nodeError.ts';
import { readResponse } from '../client/readResponse.ts';
import { OversizedResponseError, RequestFaultError } from '../client/requestFault.ts';
import type { PendingResponse } from '../client/responseCollector.ts';
import { ResponseQuotaError } from '../client/responseQuota.ts';
import type { HedgedResponse, UpstreamRequest } from '../client/upstreamRequest.ts';
import type { UpstreamNode } from '../pool/upstreamNode.ts';
import type { Upstreams } from '../pool/upstreams.ts';
import { FaultAttribution } from './faultAttribution.ts';

/** Maximum ratio between the lengths of valid responses of two nodes to one request. */
const MAX_LENGTH_RATIO = 2;

/** If an attempt fails after more than this time, it was expensive. The request is then not sent to all nodes. */
const COSTLY_MS = 1_000;
/** Failure reason in the span of an attempt whose response was no longer needed. */
const GIVEN_UP = 'given_up';
/** Minimum time left for another attempt. A timer that fires slightly early may leave less, which is useless. */
const MIN_TRY_MS = 5;

/**
 * One client request and its attempts at the nodes. If an attempt fails, the request is sent to the next node. If an
 * attempt is slow, the request is also sent to a second node after `hedgeDelayMs`, or never if that is undefined.
 */
export class HedgedRequest {
  readonly #request: UpstreamRequest;
  readonly #upstreams: Upstreams;
  readonly #tried: Set<UpstreamNode>;
  /** Nodes at which the request failed in a way that the request itself may have caused. */
  readonly #failedAt: UpstreamNode[];
  readonly #running = new Map<UpstreamNode, PendingResponse>();
  readonly #suspects: FaultAttribution;
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
    this.#suspects = new FaultAttribution(upstreams, request.method);
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
      if (this.#requestFault === undefined) inBackground('call to a node', () => this.#lastResort());
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
        : this.#upstreams.choose({ ...this.#request, tried: this.#tried }, urgency);
    if (node === undefined) return false;
    this.#tried.add(node);
    inBackground('call to a node', () => this.#attempt(node, leftMs));
    this.#armHedge();
    return true;
  }

  #armHedge(): void {
    clearTimeout(this.#hedgeTimer);
    if (this.#hedgeDelayMs === undefined || this.#failedAt.length > 0) return;
    this.#hedgeTimer = setTimeout(() => {
      const [slow] = [...this.#running.keys()].slice(-1);
      if (!this.#mayHedge() || !this.#launch()) this.#armHedge();
      else if (slow !== undefined) this.#upstreams.hedged(slow, this.#request.method);
    }, this.#hedgeDelayMs);
    this.#hedgeDelayMs *= 2;
  }

  /** A request that may itself cause the delay is sent to at most two healthy nodes, so that it cannot occupy all. */
  #mayHedge(): boolean {
    return this.#request.oversizeBlame !== 'request' || this.#busyNodes < NODES_TO_FAIL_REQUEST;
  }

  /** Number of healthy nodes that work on the request, plus the number of attempts that failed after a long time. */
  get #busyNodes(): number {
    const running = [...this.#running.keys()].filter(({ health }) => health === 'healthy');
    return this.#costlyFailures + running.length;
  }

  async #attempt(node: UpstreamNode, timeoutMs: number): Promise<void> {
    const { method, bodyByHash, client, mayStream, maxBytes, reservation } = this.#request;
    const body = (node.supportsBlockHashes === true ? bodyByHash : undefined) ?? this.#request.body;
    const startMs = performance.now();
    const span = this.#request.span && this.#spanOf(this.#request.span, node);
    let failure: string | undefined;
    const traceparent = span?.traceparent;
    const pending = node.client.relay(body, {
      client,
      timeoutMs,
      maxBytes,
      mayStream,
      reservation,
      traceparent,
    });
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
        this.#suspects.finish();
        return this.#settle({ node, stream: arrived.stream, failedAt: this.#failedAt });
      }
      const response = readResponse(arrived.bytes, node.client.host);
      const classified = this.#request.classify(response, node);
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
        // A null result does not prove that the large result of another node is wrong.
        if (response.kind === 'result' && response.value !== null) this.#blameForSize(response.bytes.length);
        return this.#settle({ node, response });
      }
      if (classified === 'otherFork') {
        this.#lastError = new OtherForkError(node.client.host);
        inBackground('poll of a node', () => this.#upstreams.refresh(node));
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
    if (this.#settled) return node.recordLatency(performance.now() - startMs);
    if (failure instanceof ResponseQuotaError) return this.#giveUp(failure);
    if (failure instanceof RequestFaultError && !this.#isNodesFault(failure))
      return this.#requestFailed(node, failure);
    this.#upstreams.failedRequest(node, this.#request.method, failure);
    if (this.#isNodesFault(failure)) this.#upstreams.blameNode(node, failure);
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

  /** Continues after an attempt without a good response: tries another node, or ends the request. */
  #next(node: UpstreamNode, brokeOff: boolean): void {
    this.#running.delete(node);
    const { once } = this.#request;
    if (this.#requestFault !== undefined) return this.#running.size === 0 ? this.#fail(false) : undefined;
    if (once && !(this.#lastError !== undefined && neverSent(this.#lastError))) return this.#finish();
    if (this.#costlyFailures > 0 && this.#busyNodes >= NODES_TO_FAIL_REQUEST)
      return this.#running.size === 0 ? this.#finish() : undefined;
    if (this.#launch()) return;
    // If the node had just closed a kept-alive connection, the attempt failed as at a dead node. Try the node again.
    if (brokeOff && !once && !this.#retried) {
      this.#retried = true;
      this.#tried.delete(node);
      if (this.#launch()) return;
    }
    if (this.#running.size === 0) inBackground('call to a node', () => this.#lastResort());
  }

  /** Polls the untried healthy nodes, which may have reached the block since their last poll, and tries one. */
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

  /** True if the request cannot have caused the failure. The node is then blamed without a try at another node. */
  #isNodesFault(failure: NodeError): boolean {
    if (failure instanceof OversizedResponseError) return this.#request.oversizeBlame === 'node';
    return neverSent(failure) || failure instanceof NodeBusyError;
  }

  /** Handles a failure that the request may have caused. Tries one other node, unless an attempt is running. */
  #requestFailed(node: UpstreamNode, fault: RequestFaultError): void {
    clearTimeout(this.#hedgeTimer);
    this.#running.delete(node);
    this.#failedAt.push(node);
    this.#requestFault = fault;
    this.#upstreams.failedRequest(node, this.#request.method, fault);
    if (this.#failedAt.length >= NODES_TO_FAIL_REQUEST || this.#request.once) return this.#fail(true);
    if (this.#running.size === 0 && !this.#launch()) this.#fail(this.#leftMs > 0);
  }

  /** Blames the nodes whose responses to the request were too large, if another node's result is much smaller. */
  #blameForSize(bytes: number): void {
    const { oversizeBlame, failedBefore, maxBytes } = this.#request;
    const fault = this.#requestFault;
    if (oversizeBlame !== 'unclear' || !(fault instanceof OversizedResponseError)) return;
    if (bytes * MAX_LENGTH_RATIO > maxBytes) return;
    for (const node of this.#failedAt)
      if (failedBefore?.nodes.includes(node) !== true) this.#upstreams.blameNode(node, fault);
  }

  /** Rejects with an error that says that the request itself caused the failure. */
  #fail(isFinal: boolean): void {
    const fault = this.#requestFault;
    this.#suspects.finish();
    if (fault !== undefined) this.#giveUp(new FailedRequestError(fault, this.#failedAt, isFinal));
  }

  #finish(): void {
    this.#suspects.finish();
    if (this.#lastResponse !== undefined) return this.#settle(this.#lastResponse);
    this.#giveUp(this.#suspects.failure(this.#lastError, this.#request));
  }

  /** Rejects the request, and aborts its running attempts without effect on the health of their nodes. */
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
