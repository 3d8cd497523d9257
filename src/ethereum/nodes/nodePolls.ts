import type { UpstreamNode } from './upstreamNode.ts';

/** When nodes are polled: each at its interval, and at once where somebody has to know. */
export class NodePolls {
  readonly #intervalMs: number;
  /** Never rejects. */
  readonly #poll: (node: UpstreamNode) => Promise<void>;
  readonly #timers = new Map<UpstreamNode, NodeJS.Timeout>();
  /** Refreshes that run, and those that wait for them to end. */
  readonly #running = new Map<UpstreamNode, Promise<void>>();
  readonly #waiting = new Map<UpstreamNode, Promise<void>>();
  #stopped = false;

  constructor(intervalMs: number, poll: (node: UpstreamNode) => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#poll = poll;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Polls every node once, then goes on at the interval. Resolves after the first polls. */
  async start(nodes: readonly UpstreamNode[]): Promise<void> {
    await Promise.all(nodes.map((node) => this.#poll(node)));
    for (const node of nodes) this.#schedule(node);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  /**
   * Polls a node now. Those who ask while a refresh runs share the next one: what they know of may be younger than the answer
   * that is on its way.
   */
  refresh(node: UpstreamNode): Promise<void> {
    const waiting = this.#waiting.get(node);
    if (waiting !== undefined) return waiting;
    const next = (this.#running.get(node) ?? Promise.resolve()).then(() => {
      this.#waiting.delete(node);
      const poll = this.#poll(node);
      this.#running.set(node, poll);
      return poll;
    });
    this.#waiting.set(node, next);
    return next;
  }

  #schedule(node: UpstreamNode): void {
    if (this.#stopped) return;
    const timer = setTimeout(async () => {
      await this.#poll(node);
      this.#schedule(node);
    }, this.#intervalMs);
    this.#timers.set(node, timer);
  }
}
