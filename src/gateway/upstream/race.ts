import { NodeError } from '../../traces/index.ts';
import { readAnswer } from '../relay/readAnswer.ts';
import type { UpstreamNode } from './node.ts';
import { type Exchange, neverSent } from './nodeConnection.ts';
import type { NodePool } from './nodePool.ts';
import { type Answered, asNodeError, OtherForkError, type PoolObserver, type Question } from './question.ts';

/** One question on its way through the nodes. */
export class Race {
  readonly #pool: NodePool;
  readonly #question: Question;
  readonly #observer: PoolObserver;
  readonly #tried = new Set<UpstreamNode>();
  readonly #running = new Map<UpstreamNode, Exchange>();
  readonly #deadlineMs: number;
  #hedgeDelayMs: number | undefined;
  #hedgeTimer: NodeJS.Timeout | undefined;
  #lastAnswer: Answered | undefined;
  #lastError: NodeError | undefined;
  #retried = false;
  #settled = false;
  #resolve: (answered: Answered) => void = () => undefined;
  #reject: (error: NodeError) => void = () => undefined;

  constructor(pool: NodePool, question: Question, observer: PoolObserver, hedgeDelayMs: number | undefined) {
    this.#pool = pool;
    this.#question = question;
    this.#observer = observer;
    this.#hedgeDelayMs = hedgeDelayMs;
    this.#deadlineMs = performance.now() + question.timeoutMs;
  }

  run(): Promise<Answered> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      if (!this.#launch()) this.#finish();
    });
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
    if (this.#hedgeDelayMs === undefined) return;
    this.#hedgeTimer = setTimeout(() => {
      if (this.#launch()) this.#observer.hedged(this.#question.method);
    }, this.#hedgeDelayMs);
    this.#hedgeDelayMs *= 2;
  }

  async #attempt(node: UpstreamNode, timeoutMs: number): Promise<void> {
    const { method, bodyByHash, mayStream, maxBytes } = this.#question;
    const body = (node.takesHashes === true ? bodyByHash : undefined) ?? this.#question.body;
    const startMs = performance.now();
    const exchange = node.connection.post(body, { timeoutMs, maxBytes, mayStream });
    this.#running.set(node, exchange);
    node.inFlight++;
    try {
      const arrived = await exchange.body;
      if (this.#settled) {
        if (arrived.kind === 'stream') arrived.stream.abort();
        return;
      }
      if (arrived.kind === 'stream') return this.#settle({ node, stream: arrived.stream });
      const answer = readAnswer(arrived.bytes, node.connection.host);
      const verdict = this.#question.judge(answer);
      if (typeof verdict === 'object') {
        this.#pool.lied(node, method, verdict.falsehood);
        this.#lastError = new NodeError('nonsense', verdict.falsehood);
        return this.#next(node, false);
      }
      this.#pool.answered(node, method, performance.now() - startMs);
      if (verdict === 'good') return this.#settle({ node, answer });
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

  #finish(): void {
    if (this.#lastAnswer !== undefined) return this.#settle(this.#lastAnswer);
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#hedgeTimer);
    this.#reject(this.#lastError ?? new NodeError('unreachable', 'no node can be asked now'));
  }

  #settle(answered: Answered): void {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#hedgeTimer);
    this.#resolve(answered);
    for (const [node, exchange] of this.#running) if (node !== answered.node) exchange.abort();
  }
}
