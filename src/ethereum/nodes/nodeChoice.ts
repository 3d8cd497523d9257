import type { Health } from './health.ts';
import type { NetworkHeads } from './networkHeads.ts';
import type { Budget } from './nodeBudget.ts';
import type { UpstreamNode } from './upstreamNode.ts';

/** Behind the head by more, a node is asked only where no other is left. */
const MAX_LAG_BLOCKS = 8;

/** Its chain is not known, or it cannot be trusted. */
const NEVER_RELAYED_TO: ReadonlySet<Health> = new Set<Health>([
  'unknown',
  'drained',
  'quarantined',
  'wrongChain',
]);

/** Kinds of nodes, each asked only where none of the kind before is left; within a kind the fastest is asked. */
const TIER = 1e9;

/** Which node is asked for what, by health, head and latency. */
export class NodeChoice {
  readonly #nodes: readonly UpstreamNode[];
  readonly #heads: NetworkHeads;

  constructor(nodes: readonly UpstreamNode[], heads: NetworkHeads) {
    this.#nodes = nodes;
    this.#heads = heads;
  }

  /** The best node for a relayed request that has not been tried; undefined where there is none whose budget allows it. */
  best(
    tried: ReadonlySet<UpstreamNode>,
    needsBlock: number | undefined,
    allows: (budget: Budget) => boolean,
  ): UpstreamNode | undefined {
    let best: UpstreamNode | undefined;
    let bestCost = Number.POSITIVE_INFINITY;
    for (const node of this.#nodes) {
      if (tried.has(node) || NEVER_RELAYED_TO.has(node.health)) continue;
      if (node.client.budget !== undefined && !allows(node.client.budget)) continue;
      const cost = this.#costOf(node, needsBlock);
      if (cost >= bestCost) continue;
      best = node;
      bestCost = cost;
    }
    return best;
  }

  /** The nodes that the network's head is of: the healthy ones, and where there is none those that are on its chain at least. */
  claimants(): readonly UpstreamNode[] {
    const healthy = this.#nodes.filter(({ health }) => health === 'healthy');
    if (healthy.length > 0) return healthy;
    // A single node is the authority on its own chain, whatever else it was caught with.
    const isSingle = this.#nodes.length === 1;
    return this.#nodes.filter(
      ({ health, isChainVerified }) =>
        isChainVerified && health !== 'drained' && (isSingle || health !== 'quarantined'),
    );
  }

  /** Whether a healthy node has a block, and of the head's chain. */
  canAnswer(needsBlock: number): boolean {
    return this.#nodes.some((node) => node.health === 'healthy' && this.#has(node, needsBlock));
  }

  /**
   * All nodes in the order in which they are asked for blocks to index: those that are on the head's chain now and have the
   * block first, as they are configured. Latency has no say: nodes that give traces by different methods are not mixed.
   */
  inOrderFor(blockNumber: number | undefined): UpstreamNode[] {
    const penalty = (node: UpstreamNode): number => {
      const { health, heads, isHeard } = node;
      const isTrusted = health !== 'quarantined' && health !== 'wrongChain';
      return (
        (isTrusted ? 0 : 16) +
        (health === 'healthy' ? 0 : 8) +
        (isHeard ? 0 : 4) +
        (heads !== undefined && this.#heads.isOnChain(heads) ? 0 : 2) +
        ((heads?.latest.number ?? -1) >= (blockNumber ?? this.#heads.latest?.number ?? 0) ? 0 : 1)
      );
    };
    return this.#nodes.filter(({ health }) => health !== 'drained').sort((a, b) => penalty(a) - penalty(b));
  }

  /** A node on another fork has other blocks at the same heights: only what is final is the same on all. */
  #has({ heads }: UpstreamNode, block: number): boolean {
    if (heads === undefined || heads.latest.number < block) return false;
    return block <= (this.#heads.final ?? -1) || this.#nodes.length === 1 || this.#heads.isOnChain(heads);
  }

  #costOf(node: UpstreamNode, needsBlock: number | undefined): number {
    const has = needsBlock === undefined || this.#has(node, needsBlock);
    const lags = (this.#heads.latest?.number ?? 0) - (node.heads?.latest.number ?? -1) > MAX_LAG_BLOCKS;
    if (node.health !== 'healthy') return (has ? 2 : 3) * TIER + node.expectedMs;
    // A node that has not reached a block would answer that there is none, or with another chain's.
    if (!has) return Number.POSITIVE_INFINITY;
    return (lags ? TIER : 0) + node.expectedMs;
  }
}
