import { NoRoomError } from './answerRoom.ts';
import { neverSent } from './connectionError.ts';
import { FailedRequestError } from './failedRequest.ts';
import { BudgetExceededError, FairTurns } from './fairTurns.ts';
import { HedgeDelays } from './hedgeDelays.ts';
import { HedgedRequest } from './hedgedRequest.ts';
import type { NetworkHeads } from './networkHeads.ts';
import type { Budget, Urgency } from './nodeBudget.ts';
import type { NodeChoice } from './nodeChoice.ts';
import { NodeError } from './nodeError.ts';
import type { NodeWait } from './nodeWait.ts';
import type { PoolObserver } from './poolObserver.ts';
import type { UpstreamNode } from './upstreamNode.ts';
import type { HedgedResponse, UpstreamRequest } from './upstreamRequest.ts';
import type { Upstreams } from './upstreams.ts';

/** A request for a head that a node told of before it died waits so long for another node to get there. */
const HEAD_WAIT_MS = 3_000;
/** While somebody waits for a node to come to a block, it is polled this often. */
const CATCH_UP_POLL_MS = 250;
/** A request that waited for a node goes out again; one that was away so often will be so again. */
const MAX_RETURNS = 3;

export interface RelayedRequestsDependencies {
  readonly nodes: readonly UpstreamNode[];
  readonly heads: NetworkHeads;
  readonly choice: NodeChoice;
  readonly wait: NodeWait;
  /** How long a call waits for a node's budget. */
  readonly budgetWaitMs: number;
  readonly observer: PoolObserver;
  refresh(node: UpstreamNode): Promise<void>;
}

/** By what it is known which node is asked. */
type WantedNode = Pick<UpstreamRequest, 'needsBlock' | 'isBackground'> & {
  readonly tried?: ReadonlySet<UpstreamNode> | undefined;
  readonly failedBefore?: UpstreamRequest['failedBefore'];
};

/** Clients' requests to the nodes of a network, and what they tell of the nodes. */
export class RelayedRequests implements Upstreams {
  readonly #nodes: readonly UpstreamNode[];
  readonly #dependencies: RelayedRequestsDependencies;
  readonly #observer: PoolObserver;
  readonly #hedgeDelays = new HedgeDelays();
  /** Undefined where no node has a budget. */
  readonly #turns: FairTurns | undefined;

  constructor(dependencies: RelayedRequestsDependencies) {
    this.#dependencies = dependencies;
    this.#nodes = dependencies.nodes;
    this.#observer = dependencies.observer;
    if (this.#nodes.some(({ client }) => client.budget !== undefined))
      this.#turns = new FairTurns({
        waitMs: dependencies.budgetWaitMs,
        callsLeft: () => this.#sumOf((budget) => budget?.callsLeft('firstTry') ?? Number.POSITIVE_INFINITY),
        untilNextMs: () =>
          Math.min(...this.#asked.map(({ client }) => client.budget?.waitMs('firstTry') ?? 0)),
        lease: () => {
          for (const { client } of this.#asked) void client.budget?.lease('firstTry');
        },
      });
  }

  /** The nodes whose budgets count: where none is healthy, whether there is one to ask is not a question of budgets. */
  get #asked(): readonly UpstreamNode[] {
    const healthy = this.#nodes.filter(({ health }) => health === 'healthy');
    return healthy.length > 0 ? healthy : this.#nodes;
  }

  #sumOf(callsLeft: (budget: Budget | undefined) => number): number {
    return this.#asked.reduce((sum, { client }) => sum + callsLeft(client.budget), 0);
  }

  /** Leases calls of the node that is to be asked; undefined where it has some, or others wait for them already. */
  #lease({ isBackground, tried, failedBefore, needsBlock }: WantedNode): Promise<void> | undefined {
    if (this.#turns === undefined || this.#turns.isAnyWaiting) return undefined;
    const urgency = isBackground === true ? 'background' : 'firstTry';
    const { choice } = this.#dependencies;
    const isTried = tried ?? new Set(failedBefore?.nodes);
    const mayGive = (budget: Budget): boolean => budget.waitMs(urgency) === 0;
    // Where none has come to the block one may yet.
    const best = choice.best(isTried, needsBlock, mayGive) ?? choice.best(isTried, undefined, mayGive);
    return best?.client.budget?.lease(urgency);
  }

  /** Undefined where no budget is in the way. Rejects with BudgetExceededError. */
  #turn({ client, isBackground, tried }: UpstreamRequest): Promise<void> | undefined {
    if (this.#turns === undefined) return undefined;
    if (isBackground !== true) return this.#turns.turn(client?.() ?? '');
    const others = this.#nodes.filter((node) => node.health === 'healthy' && tried?.has(node) !== true);
    const isPlenty = others.some(({ client: { budget } }) => (budget?.callsLeft('background') ?? 1) >= 1);
    return isPlenty ? undefined : Promise.reject(new BudgetExceededError(0));
  }

  /**
   * The first good answer. Nodes are asked one after the other, the likely fastest first; a slow read is sent to a second
   * one meanwhile. Where all are away, one that comes back soon is waited for. Where no answer is good: the last that a node
   * gave, or a rejection with NodeError.
   */
  async ask(request: UpstreamRequest): Promise<HedgedResponse> {
    const { needsBlock, timeoutMs, method, once, body } = request;
    const { choice, heads, wait } = this.#dependencies;
    if (needsBlock !== undefined && this.#isAnyHealthy && !choice.canAnswer(needsBlock))
      await heads.reaches(needsBlock, Math.min(HEAD_WAIT_MS, timeoutMs));
    // From here to the node nothing else runs where there are calls left: they are this request's.
    for (let lease = this.#lease(request); lease !== undefined; lease = this.#lease(request)) await lease;
    const turn = this.#turn(request);
    if (turn !== undefined) await turn;
    const hedges = !once && request.tried === undefined && this.#nodes.length > 1;
    const hedgeDelayMs = hedges ? this.#hedgeDelays.delayMs(method) : undefined;
    const deadlineMs = performance.now() + timeoutMs;
    const leftMs = (): number => deadlineMs - performance.now();
    for (let left = MAX_RETURNS; ; left--) {
      const now = left === MAX_RETURNS ? request : { ...request, timeoutMs: leftMs() };
      // Anew for one that has waited.
      for (let lease = this.#lease(request); lease !== undefined; lease = this.#lease(request)) await lease;
      try {
        return await new HedgedRequest(now, hedgeDelayMs, this).run();
      } catch (error) {
        if (left === 0 || !this.#isAway(error, once)) throw error;
        if (!(await wait.comesBack(leftMs(), body.length))) throw error;
      }
    }
  }

  get #isAnyHealthy(): boolean {
    return this.#nodes.some(({ health }) => health === 'healthy');
  }

  /** Whether a request has failed because all nodes are away, so that it may be sent when one is back. */
  #isAway(error: unknown, once: boolean): boolean {
    if (this.#isAnyHealthy || !(error instanceof NodeError) || error instanceof NoRoomError) return false;
    return !(error instanceof FailedRequestError) && (!once || neverSent(error));
  }

  choose(
    tried: ReadonlySet<UpstreamNode>,
    needsBlock: number | undefined,
    urgency: Urgency,
  ): UpstreamNode | undefined {
    return this.#dependencies.choice.best(tried, needsBlock, (budget) => budget.callsLeft(urgency) >= 1);
  }

  async catchUp(tried: ReadonlySet<UpstreamNode>, needsBlock: number, timeoutMs: number): Promise<boolean> {
    const { heads, refresh } = this.#dependencies;
    const urgency = tried.size > 0 ? 'retry' : 'firstTry';
    const deadlineMs = performance.now() + Math.min(HEAD_WAIT_MS, timeoutMs);
    for (;;) {
      const behind = this.#nodes.filter((node) => node.health === 'healthy' && !tried.has(node));
      const leftMs = deadlineMs - performance.now();
      if (behind.length === 0 || leftMs <= 0) return false;
      for (const node of behind) void refresh(node);
      await heads.reaches(needsBlock, Math.min(CATCH_UP_POLL_MS, leftMs));
      await this.#lease({ tried, needsBlock });
      if (this.choose(tried, needsBlock, urgency) !== undefined) return true;
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

  /** A failure that is the node's, whatever was asked. */
  failed(node: UpstreamNode, method: string, error: NodeError): void {
    this.failedRequest(node, method, error);
    this.heldAgainst(node, error);
  }

  failedRequest(node: UpstreamNode, method: string, error: NodeError): void {
    this.#observer.failed(node, method, error);
    node.doubtChain(error);
  }

  heldAgainst(node: UpstreamNode, error: NodeError): void {
    const before = node.health;
    node.failed(error);
    if (node.health !== before) this.#observer.healthChanged(node, error.message);
  }

  sentInvalidResponse(node: UpstreamNode, method: string, reason: string): void {
    node.quarantine(reason);
    this.#observer.sentInvalidResponse(node, method, reason);
  }

  hedged(method: string): void {
    this.#observer.hedged(method);
  }
}
