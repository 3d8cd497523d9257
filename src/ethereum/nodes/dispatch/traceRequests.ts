import { inBackground } from '../../../platform/background/index.ts';
import { Budget, type BudgetClient } from '../../../platform/budgets/index.ts';
import type { Span } from '../../../platform/spans/index.ts';
import { callSpan } from '../client/callSpan.ts';
import { neverSent, notSent } from '../client/connectionError.ts';
import { FailedRequestError } from '../client/failedRequest.ts';
import { asNodeError, NodeBusyError, NodeError } from '../client/nodeError.ts';
import { readLargeResult, readResponse, type UpstreamResponse } from '../client/readResponse.ts';
import { RequestFaultError } from '../client/requestFault.ts';
import type { PendingResponse } from '../client/responseCollector.ts';
import { ReceiveReservation, type ResponseQuota, ResponseQuotaError } from '../client/responseQuota.ts';
import { METHOD_NOT_FOUND } from '../client/rpcResponse.ts';
import type { HedgedResponse, WholeResponse } from '../client/upstreamRequest.ts';
import type { PoolObserver } from '../pool/poolObserver.ts';
import type { UpstreamNode } from '../pool/upstreamNode.ts';
import type { Upstreams } from '../pool/upstreams.ts';

/** Maximum traces of a network that wait for a node: of all clients, and of one client. */
const WAITING = { total: 1_024, perClient: 64 };
/** Maximum number of nodes that trace for one request. */
const MAX_TRIES = 2;
/** Assumed number of transactions of a block if no node returns it; more than almost all blocks have. */
const UNKNOWN_TRANSACTIONS = 1_000;
/** Maximum delay of a timer of Node.js. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A request that lets a node trace a block, a transaction or a call. */
export interface TraceRequest {
  readonly method: string;
  /** Returns the body for a node. */
  readonly bodyFor: (node: UpstreamNode) => string;
  /** Number of the block that the request needs. Only nodes that have reached this block can answer. */
  readonly needsBlock: number | undefined;
  readonly client: BudgetClient;
  /** Maximum time in milliseconds until the response is complete or, if it is large, until its stream starts. */
  readonly timeoutMs: number;
  /** Time in milliseconds after which the node ends the trace of a transaction. */
  readonly transactionTimeoutMs: number;
  /** Returns the number of traced transactions. Called if the node has not answered after `timeoutMs`. */
  readonly countTransactions: () => Promise<number>;
  readonly maxBytes: number;
  /** Responses above this size are returned as streams. Undefined: every response is read whole. */
  readonly streamAboveBytes: number | undefined;
  readonly room: ResponseQuota;
  readonly span?: Span | undefined;
  /** Returns false if another node may have a better response. */
  readonly isGood: (sent: WholeResponse) => Promise<boolean> | boolean;
}

/** All slots for traces are in use, or too many traces wait for one. */
export class TraceSlotsError extends NodeError {
  constructor() {
    super('refused', 'all slots for traces are in use');
  }
}

/** No node answered in time. The node may still work: `released` resolves when it has answered or its time has ended. */
export class SlowTraceError extends NodeError {
  readonly timeoutMs: number;
  readonly released: Promise<void>;

  constructor(timeoutMs: number, released: Promise<void>) {
    super('timeout', `no node returned the trace within ${timeoutMs} ms`);
    this.timeoutMs = timeoutMs;
    this.released = released;
  }
}

export interface TraceRequestsDependencies {
  readonly upstreams: Pick<Upstreams, 'choose' | 'failedRequest' | 'blameNode'>;
  readonly observer: Pick<PoolObserver, 'answered'>;
}

interface Attempt {
  readonly node: UpstreamNode;
  readonly deadlineMs: number;
  readonly reservation: ReceiveReservation;
  readonly endSlot: () => void;
}

/**
 * Sends traces to the nodes of a network. A node continues to trace after the request for it was aborted, so a trace
 * occupies its slot until the node has answered. Traces are never sent to two nodes at the same time. Their durations
 * and timeouts do not affect the latency and the health of a node, because the request determines them.
 */
export class TraceRequests {
  readonly #dependencies: TraceRequestsDependencies;
  /** Nodes that were asked before. */
  readonly #nodes = new Set<UpstreamNode>();
  readonly #waiting = new Budget(WAITING);

  constructor(dependencies: TraceRequestsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the first good response of at most two nodes, otherwise the last response. Rejects with NodeError. */
  async send(request: TraceRequest): Promise<HedgedResponse> {
    const deadlineMs = performance.now() + request.timeoutMs;
    const quota = new EndingQuota(request.room);
    const reservation = new ReceiveReservation(quota);
    const tried = new Set<UpstreamNode>();
    let last: WholeResponse | undefined;
    let failure: NodeError | undefined;
    try {
      for (let tries = 0; tries < MAX_TRIES; ) {
        const node = this.#choose(tried, request);
        if (node === undefined) break;
        tried.add(node);
        try {
          const endSlot = await this.#slot(node, request.client, deadlineMs);
          const sent = await this.#attempt(request, { node, deadlineMs, reservation, endSlot });
          if ('stream' in sent || (await request.isGood(sent))) return sent;
          if (last?.response.kind !== 'result' || sent.response.kind === 'result') last = sent;
          if (!isMethodMissing(sent.response)) tries++;
        } catch (error) {
          failure = this.#failed(node, request.method, asNodeError(error));
          if (!neverSent(failure)) tries++;
          if (isLasting(failure)) break;
        }
      }
      if (last !== undefined) return last;
      throw failure ?? notSent(new NodeError('unreachable', 'no node is available'));
    } finally {
      quota.end();
      reservation.release();
    }
  }

  /** Returns the best node. Prefers those with a free slot for the client. */
  #choose(tried: ReadonlySet<UpstreamNode>, { needsBlock, client }: TraceRequest): UpstreamNode | undefined {
    const { upstreams } = this.#dependencies;
    const urgency = tried.size > 0 ? 'retry' : 'firstTry';
    const busy = new Set(tried);
    for (const node of this.#nodes) if (!node.traceSlots.isFreeFor(client)) busy.add(node);
    return (
      upstreams.choose({ tried: busy, needsBlock }, urgency) ??
      upstreams.choose({ tried, needsBlock }, urgency)
    );
  }

  /** Resolves with a function that ends the use of a slot of the node. Rejects with TraceSlotsError. */
  #slot(node: UpstreamNode, client: BudgetClient, deadlineMs: number): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.exceededBy(client, 1) !== undefined) return reject(new TraceSlotsError());
      let timer: NodeJS.Timeout | undefined;
      this.#waiting.charge(client, 1);
      const stopWaiting = (): void => {
        clearTimeout(timer);
        this.#waiting.release(client, 1);
      };
      let isWaiting = true;
      this.#nodes.add(node);
      const end = node.traceSlots.take(client, (endSlot) => {
        isWaiting = false;
        stopWaiting();
        resolve(endSlot);
      });
      if (!isWaiting) return;
      timer = setTimeout(() => {
        stopWaiting();
        end();
        reject(new TraceSlotsError());
      }, deadlineMs - performance.now());
    });
  }

  async #attempt(
    request: TraceRequest,
    { node, deadlineMs, reservation, endSlot }: Attempt,
  ): Promise<HedgedResponse> {
    const { method, client, maxBytes, streamAboveBytes, timeoutMs } = request;
    const startMs = performance.now();
    const span = request.span && callSpan(request.span, node.client.host, [request]);
    span?.set('floodgate.node', node.name);
    const pending = node.client.relay(request.bodyFor(node), {
      client,
      timeoutMs: MAX_TIMER_MS,
      maxBytes,
      mayStream: streamAboveBytes !== undefined,
      streamAboveBytes,
      reservation,
      traceparent: span?.traceparent,
    });
    node.inFlight++;
    const released = settled(pending).then((error) => {
      node.inFlight--;
      span?.end(error?.reason);
      endSlot();
    });
    const arrived = await beforeDeadline(pending, deadlineMs);
    if (arrived === undefined) {
      inBackground('trace by a node', () => this.#abortLate(pending, request, startMs));
      throw new SlowTraceError(timeoutMs, released);
    }
    this.#dependencies.observer.answered(node, method, performance.now() - startMs);
    if (arrived.kind === 'stream') return { node, stream: arrived.stream, failedAt: [] };
    const response = readLargeResult(arrived.bytes) ?? readResponse(arrived.bytes, node.client.host);
    return { node, response };
  }

  /** Waits for a late answer, and aborts the request when the node must have ended all traces of the block. */
  async #abortLate(pending: PendingResponse, request: TraceRequest, startMs: number): Promise<void> {
    const abort = (): void => pending.abort();
    const ended = settled(pending).then(() => undefined);
    const transactions = await Promise.race([
      request.countTransactions().catch(() => UNKNOWN_TRANSACTIONS),
      ended,
    ]);
    if (transactions === undefined) return;
    const leftMs = transactions * request.transactionTimeoutMs - (performance.now() - startMs);
    const timer = setTimeout(abort, Math.min(MAX_TIMER_MS, Math.max(0, leftMs)));
    await ended;
    clearTimeout(timer);
  }

  #failed(node: UpstreamNode, method: string, failure: NodeError): NodeError {
    if (failure instanceof TraceSlotsError || failure instanceof ResponseQuotaError) return failure;
    const { upstreams } = this.#dependencies;
    upstreams.failedRequest(node, method, failure);
    if (neverSent(failure) || failure instanceof NodeBusyError) upstreams.blameNode(node, failure);
    return failure instanceof RequestFaultError ? new FailedRequestError(failure, [node], true) : failure;
  }
}

/** Memory quota of a request. After its end, nothing may be charged, so that a late answer occupies no memory. */
class EndingQuota implements ResponseQuota {
  readonly #room: ResponseQuota;
  #hasEnded = false;

  constructor(room: ResponseQuota) {
    this.#room = room;
  }

  end(): void {
    this.#hasEnded = true;
  }

  charge(bytes: number): boolean {
    return !this.#hasEnded && this.#room.charge(bytes);
  }

  credit(bytes: number): void {
    this.#room.credit(bytes);
  }

  freeConnection(): void {
    if (!this.#hasEnded) this.#room.freeConnection();
  }
}

/** Resolves when the response has arrived or failed, with the failure. A stream that nobody reads is aborted later. */
const settled = ({ body }: PendingResponse): Promise<NodeError | undefined> =>
  body.then(
    () => undefined,
    (error: unknown) => asNodeError(error),
  );

/** Resolves with the response, or with undefined if it does not arrive in time. */
async function beforeDeadline(
  pending: PendingResponse,
  deadlineMs: number,
): Promise<Awaited<PendingResponse['body']> | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, deadlineMs - performance.now()));
  });
  try {
    return await Promise.race([pending.body, late]);
  } finally {
    clearTimeout(timer);
  }
}

const isMethodMissing = (response: UpstreamResponse): boolean =>
  response.kind === 'error' && response.code === METHOD_NOT_FOUND;

/** True for a failure after which no other node is tried: the request is the cause, or its time has ended. */
const isLasting = (failure: NodeError): boolean =>
  failure instanceof FailedRequestError ||
  failure instanceof SlowTraceError ||
  failure instanceof TraceSlotsError ||
  failure instanceof ResponseQuotaError;
