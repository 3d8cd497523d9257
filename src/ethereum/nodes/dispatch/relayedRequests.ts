import { inBackground } from '../../../platform/background/index.ts';
import { clientName } from '../../../platform/budgets/index.ts';
import { neverSent } from '../client/connectionError.ts';
import { FailedRequestError } from '../client/failedRequest.ts';
import type { Budget, Urgency } from '../client/nodeBudget.ts';
import { NodeError } from '../client/nodeError.ts';
import { ResponseQuotaError } from '../client/responseQuota.ts';
import type { HedgedResponse, UpstreamRequest } from '../client/upstreamRequest.ts';
import type { NetworkHeads } from '../pool/networkHeads.ts';
import type { NodeChoice } from '../pool/nodeChoice.ts';
import type { PoolObserver } from '../pool/poolObserver.ts';
import type { RecoveryWait } from '../pool/recoveryWait.ts';
import type { UpstreamNode } from '../pool/upstreamNode.ts';
import type { Upstreams, WantedNode } from '../pool/upstreams.ts';
import { BudgetExceededError, FairQueue } from './fairQueue.ts';
import { HedgeDelays } from './hedgeDelays.ts';
import { HedgedRequest } from './hedgedRequest.ts';
import { type TraceRequest, TraceRequests } from './traceRequests.ts';

/** Maximum wait for a node to reach the block that a request needs, such as a head whose only node has failed. */
const HEAD_WAIT_MS = 3_000;
/** Interval at which nodes are polled while a request waits for one of them to reach a block. */
const CATCH_UP_POLL_MS = 250;
/** Maximum number of times that one request waits for a node to recover and is then sent again. */
const MAX_RETURNS = 3;

export interface RelayedRequestsDependencies {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly choice: NodeChoice;
  readonly wait: RecoveryWait;
  /** Maximum time for which a call waits for a node's budget. */
  readonly budgetWaitMs: number;
  readonly observer: PoolObserver;
  refresh(node: UpstreamNode): Promise<void>;
}

type RequestedNode = Pick<UpstreamRequest, 'needsBlock' | 'first'> & {
  readonly isBackground?: boolean;
  readonly tried?: ReadonlySet<UpstreamNode> | undefined;
  readonly failedBefore?: UpstreamRequest['failedBefore'];
};

/** Sends clients' requests to the nodes of a network, and records the effects of the results on the nodes' health. */
export class RelayedRequests implements Upstreams {
  readonly #nodes: readonly UpstreamNode[];
  readonly #dependencies: RelayedRequestsDependencies;
  readonly #observer: PoolObserver;
  readonly #hedgeDelays = new HedgeDelays();
  /** Calls that wait for a node's budget. Undefined if no node has a budget. */
  readonly #queue: FairQueue | undefined;
  readonly #traces: TraceRequests;

  constructor(dependencies: RelayedRequestsDependencies) {
    this.#dependencies = dependencies;
    this.#nodes = dependencies.nodes;
    this.#observer = dependencies.observer;
    this.#traces = new TraceRequests({ ...dependencies, upstreams: this });
    if (this.#nodes.some(({ client }) => client.budget !== undefined))
      this.#queue = new FairQueue({
        waitMs: dependencies.budgetWaitMs,
        callsLeft: () => this.#sumOf((budget) => budget?.callsLeft('firstTry') ?? Number.POSITIVE_INFINITY),
        untilNextMs: () =>
          Math.min(...this.#budgetNodes.map(({ client }) => client.budget?.waitMs('firstTry') ?? 0)),
        lease: () => {
          for (const { client } of this.#budgetNodes)
            inBackground('node budget', () => client.budget?.lease('firstTry'));
        },
      });
  }

  /** Nodes whose budgets count: the healthy ones. If none is healthy, all nodes, so that budgets hide no outage. */
  get #budgetNodes(): readonly UpstreamNode[] {
    const healthy = this.#nodes.filter(({ health }) => health === 'healthy');
    return healthy.length > 0 ? healthy : this.#nodes;
  }

  #sumOf(callsLeft: (budget: Budget | undefined) => number): number {
    return this.#budgetNodes.reduce((sum, { client }) => sum + callsLeft(client.budget), 0);
  }

  /** Leases calls for the node that will be used. Returns undefined if none are needed, or if other requests wait. */
  #lease({ isBackground, tried, failedBefore, needsBlock, first }: RequestedNode): Promise<void> | undefined {
    if (this.#queue === undefined || this.#queue.isAnyWaiting) return undefined;
    const urgency = isBackground === true ? 'background' : 'firstTry';
    const { choice } = this.#dependencies;
    const isTried = tried ?? new Set(failedBefore?.nodes);
    const mayGive = (budget: Budget): boolean => budget.waitMs(urgency) === 0;
    // If no node has the needed block yet, one may reach it before the request is sent.
    const best =
      choice.first({ tried: isTried, needsBlock, first }, mayGive) ??
      choice.best(isTried, undefined, mayGive);
    return best?.client.budget?.lease(urgency);
  }

  /** Waits until a node's budget allows the call; undefined if it does now. Rejects with BudgetExceededError. */
  #acquire({
    client,
    isBackground,
    tried,
  }: Pick<UpstreamRequest, 'client' | 'isBackground' | 'tried'>): Promise<void> | undefined {
    if (this.#queue === undefined) return undefined;
    if (isBackground !== true) return this.#queue.acquire(client === undefined ? '' : clientName(client));
    const others = this.#nodes.filter((node) => node.health === 'healthy' && tried?.has(node) !== true);
    const isPlenty = others.some(({ client: { budget } }) => (budget?.callsLeft('background') ?? 1) >= 1);
    return isPlenty ? undefined : Promise.reject(new BudgetExceededError(0));
  }

  /**
   * Returns the first good response. Tries nodes in the order of expected latency, and sends a slow read to a second
   * node in parallel. If all nodes are unhealthy, waits for one to recover. If no response is good, returns the last
   * response, or rejects with NodeError if there is none.
   */
  async send(request: UpstreamRequest): Promise<HedgedResponse> {
    const { needsBlock, timeoutMs, method, once, body } = request;
    const { wait } = this.#dependencies;
    await this.#untilAnswerable(needsBlock, timeoutMs);
    // When the loop ends with calls left, this request takes one before any other code can run.
    for (let lease = this.#lease(request); lease !== undefined; lease = this.#lease(request)) await lease;
    const turn = this.#acquire(request);
    if (turn !== undefined) await turn;
    const hedges =
      !once && request.neverHedged !== true && request.tried === undefined && this.#nodes.length > 1;
    const hedgeDelayMs = hedges ? this.#hedgeDelays.delayMs(method) : undefined;
    const deadlineMs = performance.now() + timeoutMs;
    const leftMs = (): number => deadlineMs - performance.now();
    for (let left = MAX_RETURNS; ; left--) {
      const now = left === MAX_RETURNS ? request : { ...request, timeoutMs: leftMs() };
      // While the request waited, other requests may have used the leased calls.
      for (let lease = this.#lease(request); lease !== undefined; lease = this.#lease(request)) await lease;
      try {
        return await new HedgedRequest(now, hedgeDelayMs, this).run();
      } catch (error) {
        if (left === 0 || !this.#isAway(error, once)) throw error;
        if (!(await wait.waitForRecovery(leftMs(), body.length))) throw error;
      }
    }
  }

  /** Lets a node trace, without hedging and with at most one retry; see TraceRequests. Rejects with NodeError. */
  async trace(request: TraceRequest): Promise<HedgedResponse> {
    const { needsBlock, timeoutMs } = request;
    await this.#untilAnswerable(needsBlock, timeoutMs);
    for (let lease = this.#lease(request); lease !== undefined; lease = this.#lease(request)) await lease;
    const turn = this.#acquire({ client: request.client });
    if (turn !== undefined) await turn;
    if (!this.#isAnyHealthy) await this.#dependencies.wait.waitForRecovery(timeoutMs, 0);
    return this.#traces.send(request);
  }

  /** Resolves when a healthy node has the block, or after a wait. */
  async #untilAnswerable(needsBlock: number | undefined, timeoutMs: number): Promise<void> {
    const { choice, heads } = this.#dependencies;
    if (needsBlock !== undefined && this.#isAnyHealthy && !choice.canAnswer(needsBlock))
      await heads.reaches(needsBlock, Math.min(HEAD_WAIT_MS, timeoutMs));
  }

  /** Sends a request to a healthy node other than `asked`; undefined if none is available. Rejects with NodeError. */
  async sendToOther(request: UpstreamRequest, asked: UpstreamNode): Promise<HedgedResponse | undefined> {
    const { choice } = this.#dependencies;
    const { needsBlock } = request;
    const tried = new Set([asked]);
    if (!this.#nodes.some((node) => node.health === 'healthy' && !tried.has(node))) return undefined;
    const wanted = { needsBlock, tried };
    for (let lease = this.#lease(wanted); lease !== undefined; lease = this.#lease(wanted)) await lease;
    const turn = this.#acquire(request);
    if (turn !== undefined) await turn;
    const allows = (budget: Budget): boolean => budget.callsLeft('firstTry') >= 1;
    // A node that has not reached the block may have the data too. The request does not wait until it has the block.
    const node = [choice.best(tried, needsBlock, allows), choice.best(tried, undefined, allows)].find(
      (best) => best?.health === 'healthy',
    );
    if (node === undefined) return undefined;
    const others = new Set(this.#nodes.filter((other) => other !== node));
    return new HedgedRequest({ ...request, needsBlock: undefined, tried: others }, undefined, this).run();
  }

  get #isAnyHealthy(): boolean {
    return this.#nodes.some(({ health }) => health === 'healthy');
  }

  /** True if the request failed because all nodes are unhealthy, and may be sent again when one has recovered. */
  #isAway(error: unknown, once: boolean): boolean {
    if (this.#isAnyHealthy || !(error instanceof NodeError) || error instanceof ResponseQuotaError)
      return false;
    return !(error instanceof FailedRequestError) && (!once || neverSent(error));
  }

  choose(wanted: WantedNode, urgency: Urgency): UpstreamNode | undefined {
    return this.#dependencies.choice.first(wanted, (budget) => budget.callsLeft(urgency) >= 1);
  }

  async catchUp(tried: ReadonlySet<UpstreamNode>, needsBlock: number, timeoutMs: number): Promise<boolean> {
    const { heads, refresh } = this.#dependencies;
    const urgency = tried.size > 0 ? 'retry' : 'firstTry';
    const deadlineMs = performance.now() + Math.min(HEAD_WAIT_MS, timeoutMs);
    for (;;) {
      const behind = this.#nodes.filter((node) => node.health === 'healthy' && !tried.has(node));
      const leftMs = deadlineMs - performance.now();
      if (behind.length === 0 || leftMs <= 0) return false;
      for (const node of behind) inBackground('poll of a node', () => refresh(node));
      await heads.reaches(needsBlock, Math.min(CATCH_UP_POLL_MS, leftMs));
      await this.#lease({ tried, needsBlock });
      if (this.choose({ tried, needsBlock }, urgency) !== undefined) return true;
    }
  }

  refresh(node: UpstreamNode): Promise<void> {
    return this.#dependencies.refresh(node);
  }

  answered(node: UpstreamNode, method: string, elapsedMs: number): void {
    node.answered(elapsedMs);
    this.#hedgeDelays.answered(method, elapsedMs);
    this.#observer.answered(node, method, elapsedMs);
  }

  /** Records a failure, and counts it against the node's health because no request can have caused it. */
  failed(node: UpstreamNode, method: string, error: NodeError): void {
    this.failedRequest(node, method, error);
    this.blameNode(node, error);
  }

  failedRequest(node: UpstreamNode, method: string, error: NodeError): void {
    this.#observer.failed(node, method, error);
    node.invalidateChain(error);
  }

  blameNode(node: UpstreamNode, error: NodeError): void {
    const before = node.health;
    // A node that has never been in rotation is reported once, with the reason.
    const isFirst = before === 'unknown' && node.failures === 0;
    node.failed(error);
    if (node.health !== before || isFirst) this.#observer.healthChanged(node, error.message);
  }

  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void {
    node.quarantine(reason);
    this.#observer.sentInvalidResponse(node, method, reason);
  }

  hedged(slow: UpstreamNode, method: string): void {
    this.#observer.hedged(slow, method);
  }
}
