import { inBackground } from '../../../platform/background/index.ts';
import { sharedRuns } from '../../../platform/serialQueue/index.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Polls each node at an interval, and immediately on request. */
export class NodePolls {
  readonly #intervalMs: number;
  /** Polls one node. Never rejects. */
  readonly #poll: (node: UpstreamNode) => Promise<void>;
  readonly #timers = new Map<UpstreamNode, NodeJS.Timeout>();
  readonly #refreshes = new Map<UpstreamNode, () => Promise<void>>();
  #stopped = false;

  constructor(intervalMs: number, poll: (node: UpstreamNode) => Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#poll = poll;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Polls every node, then repeats the polls at the interval. Resolves after the first poll of every node. */
  async start(nodes: readonly UpstreamNode[]): Promise<void> {
    await Promise.all(nodes.map((node) => this.#poll(node)));
    for (const node of nodes) this.#schedule(node);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  /** Polls a node now. All calls during a refresh share the next one: the running one may return an older state. */
  refresh(node: UpstreamNode): Promise<void> {
    const refresh = this.#refreshes.get(node) ?? sharedRuns(() => this.#poll(node));
    this.#refreshes.set(node, refresh);
    return refresh();
  }

  #schedule(node: UpstreamNode): void {
    if (this.#stopped) return;
    const timer = setTimeout(
      () => inBackground('poll of a node', () => this.#pollAgain(node)),
      this.#intervalMs,
    );
    this.#timers.set(node, timer);
  }

  async #pollAgain(node: UpstreamNode): Promise<void> {
    try {
      await this.#poll(node);
    } finally {
      this.#schedule(node);
    }
  }
}
