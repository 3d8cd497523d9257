import { NoRoomError } from './answerRoom.ts';
import type { UpstreamNode } from './node.ts';
import { type Exchange, neverSent } from './nodeConnection.ts';
import type { NodePool } from './nodePool.ts';
import { type Answered, asNodeError, OtherForkError, type PoolObserver, type Question } from './question.ts';
import { readAnswer } from './readAnswer.ts';
import {
  FailedRequestError,
  NODES_TO_FAIL_REQUEST,
  OversizedAnswerError,
  RequestFaultError,
} from './requestFault.ts';
import { NodeError } from './source.ts';

/** Nodes write the same answer at different lengths, but none at more than so many times another's. */
const MAX_LENGTH_RATIO = 2;

/** One question on its way through the nodes. */
export class Race {
  readonly #pool: NodePool;
  readonly #question: Question;
  readonly #observer: PoolObserver;
  readonly #tried: Set<UpstreamNode>;
  /** Nodes at which the request has failed by its own fault. */
  readonly #failedAt: UpstreamNode[];
  readonly #running = new Map<UpstreamNode, Exchange>();
  readonly #deadlineMs: number;
  #hedgeDelayMs: number | undefined;
  #hedgeTimer: NodeJS.Timeout | undefined;
  #lastAnswer: Answered | undefined;
  #lastError: NodeError | undefined;
  #requestFault: RequestFaultError | undefined;
  #hedged = false;
  #retried = false;
  #settled = false;
  #resolve: (answered: Answered) => void = () => undefined;
  #reject: (error: NodeError) => void = () => undefined;

  constructor(pool: NodePool, question: Question, observer: PoolObserver, hedgeDelayMs: number | undefined) {
    this.#pool = pool;
    this.#question = question;
    this.#observer = observer;
    const { failedBefore } = question;
    this.#tried = new Set(failedBefore?.nodes);
    this.#failedAt = [...(failedBefore?.nodes ?? [])];
    this.#requestFault = failedBefore?.cause;
    this.#hedgeDelayMs = hedgeDelayMs;
    this.#deadlineMs = performance.now() + question.timeoutMs;
  }

  run(): Promise<Answered> {
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
    const node = leftMs <= 0 ? undefined : this.#pool.choose(this.#tried, this.#question.needsBlock);
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
      if (this.#launch()) this.#observer.hedged(this.#question.method);
    }, this.#hedgeDelayMs);
    this.#hedgeDelayMs *= 2;
  }

  /** What may take long by its own fault is asked of two nodes: it shall not keep all of them busy. */
  #mayHedge(): boolean {
    if (this.#failedAt.length > 0) return false;
    return !this.#hedged || this.#question.faultOfSize !== 'request';
  }

  async #attempt(node: UpstreamNode, timeoutMs: number): Promise<void> {
    const { method, bodyByHash, mayStream, maxBytes, room } = this.#question;
    const body = (node.takesHashes === true ? bodyByHash : undefined) ?? this.#question.body;
    const startMs = performance.now();
    const exchange = node.connection.post(body, { timeoutMs, maxBytes, mayStream, room });
    this.#running.set(node, exchange);
    node.inFlight++;
    try {
      const arrived = await exchange.body;
      if (this.#settled) {
        if (arrived.kind === 'stream') arrived.stream.abort();
        return;
      }
      if (arrived.kind === 'stream')
        return this.#settle({ node, stream: arrived.stream, failedAt: this.#failedAt });
      const answer = readAnswer(arrived.bytes, node.connection.host);
      const verdict = this.#question.judge(answer);
      if (typeof verdict === 'object') {
        this.#pool.lied(node, method, verdict.falsehood);
        this.#lastError = new NodeError('nonsense', verdict.falsehood);
        return this.#next(node, false);
      }
      this.#pool.answered(node, method, performance.now() - startMs);
      if (verdict === 'good') {
        // That a node has nothing says nothing of what another has.
        if (answer.kind === 'result' && answer.value !== null) this.#blameForSize(answer.bytes.length);
        return this.#settle({ node, answer });
      }
      if (verdict === 'otherFork') {
        this.#lastError = new OtherForkError(node.connection.host);
        void this.#pool.refresh(node);
        return this.#next(node, false);
      }
      this.#lastAnswer = { node, answer };
      this.#next(node, false);
    } catch (error) {
      if (this.#settled) return node.slow(performance.now() - startMs);
      const failure = asNodeError(error);
      if (failure instanceof NoRoomError) return this.#giveUp(failure);
      if (failure instanceof RequestFaultError && !this.#isNodesFault(failure))
        return this.#requestFailed(node, failure);
      this.#pool.failed(node, method, failure);
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
    const { once } = this.#question;
    if (this.#requestFault !== undefined) return this.#running.size === 0 ? this.#fail(false) : undefined;
    if (once && !(this.#lastError !== undefined && neverSent(this.#lastError))) return this.#finish();
    if (this.#launch()) return;
    // A kept connection that the node had just closed fails like a dead node: one more try, on a new one.
    if (brokeOff && !once && !this.#retried) {
      this.#retried = true;
      this.#tried.delete(node);
      if (this.#launch()) return;
    }
    if (this.#running.size === 0) this.#finish();
  }

  #isNodesFault(fault: RequestFaultError): boolean {
    return fault instanceof OversizedAnswerError && this.#question.faultOfSize === 'node';
  }

  /** The request has failed by its own fault: it may fare better at one other node, which may have been asked already. */
  #requestFailed(node: UpstreamNode, fault: RequestFaultError): void {
    clearTimeout(this.#hedgeTimer);
    this.#running.delete(node);
    this.#failedAt.push(node);
    this.#requestFault = fault;
    this.#pool.failedRequest(node, this.#question.method, fault);
    if (this.#failedAt.length >= NODES_TO_FAIL_REQUEST || this.#question.once) return this.#fail(true);
    if (this.#running.size === 0 && !this.#launch()) this.#fail(this.#hasTime());
  }

  /** Another node has given an answer: those that gave a far larger one of what is small by nature are at fault. */
  #blameForSize(bytes: number): void {
    const { faultOfSize, failedBefore, maxBytes, method } = this.#question;
    const fault = this.#requestFault;
    if (faultOfSize !== 'unclear' || !(fault instanceof OversizedAnswerError)) return;
    if (bytes * MAX_LENGTH_RATIO > maxBytes) return;
    for (const node of this.#failedAt)
      if (failedBefore?.nodes.includes(node) !== true) this.#pool.failed(node, method, fault);
  }

  /** Gives the request up by its own fault. */
  #fail(isFinal: boolean): void {
    const fault = this.#requestFault;
    if (fault !== undefined) this.#giveUp(new FailedRequestError(fault, this.#failedAt, isFinal));
  }

  #finish(): void {
    if (this.#lastAnswer !== undefined) return this.#settle(this.#lastAnswer);
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
    for (const exchange of this.#running.values()) exchange.abort();
  }

  #settle(answered: Answered): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#hedgeTimer);
    this.#resolve(answered);
    for (const [node, exchange] of this.#running) if (node !== answered.node) exchange.abort();
  }
}
