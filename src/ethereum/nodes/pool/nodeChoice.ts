import type { Budget } from '../client/nodeBudget.ts';
import type { Health } from './health.ts';
import type { NetworkHeads } from './networkHeads.ts';
import type { UpstreamNode } from './upstreamNode.ts';
import type { WantedNode } from './upstreams.ts';

/** Maximum number of blocks that a node may lag behind the head. After that, it is used only if no other is left. */
const MAX_LAG_BLOCKS = 8;

/** Health of nodes that receive no relayed requests: their chain is unknown, or they are drained or not trusted. */
const NEVER_RELAYED_TO: ReadonlySet<Health> = new Set<Health>([
  'unknown',
  'drained',
  'quarantined',
  'wrongChain',
]);

/** Cost difference, in milliseconds, between tiers of nodes. The fastest node of the first nonempty tier is used. */
const TIER = 1e9;

/** Chooses nodes for requests by health, head and latency. */
export class NodeChoice {
  readonly #nodes: readonly UpstreamNode[];
  readonly #heads: NetworkHeads;

  constructor(nodes: readonly UpstreamNode[], heads: NetworkHeads) {
    this.#nodes = nodes;
    this.#heads = heads;
  }

  /** Returns the best untried node for a relayed request; undefined if no usable node has a budget for the call. */
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

  /** Returns the node `first` if it can be used, otherwise the best node. */
  first(
    { tried, needsBlock, first }: WantedNode,
    allows: (budget: Budget) => boolean,
  ): UpstreamNode | undefined {
    const { health, client } = first ?? {};
    const isUsable = first !== undefined && health === 'healthy' && !tried.has(first);
    if (isUsable && (client?.budget === undefined || allows(client.budget))) return first;
    return this.best(tried, needsBlock, allows);
  }

  /** Returns the nodes that define the head: all healthy nodes or, if there is none, those with a verified chain. */
  headNodes(): readonly UpstreamNode[] {
    const healthy = this.#nodes.filter(({ health }) => health === 'healthy');
    if (healthy.length > 0) return healthy;
    // A single node defines its own chain, even while it is quarantined.
    const isSingle = this.#nodes.length === 1;
    return this.#nodes.filter(
      ({ health, isChainVerified }) =>
        isChainVerified && health !== 'drained' && (isSingle || health !== 'quarantined'),
    );
  }

  /** Returns true if a healthy node has this block, and the block belongs to the chain of the current head. */
  canAnswer(needsBlock: number): boolean {
    return this.#nodes.some((node) => node.health === 'healthy' && this.#has(node, needsBlock));
  }

  /**
   * Returns all nodes that are not drained, in the order in which ingest tries them: first the healthy ones that have
   * the block on the head's chain, as configured. Latency does not count, so that trace methods are not mixed. A node
   * that lags is tried late, because it may have stopped on a fork that the kept hashes do not reach.
   */
  ingestOrder(blockNumber: number | undefined): UpstreamNode[] {
    const penalty = (node: UpstreamNode): number => {
      const { health, heads, lastPollSucceeded, isLate } = node;
      const isTrusted = health !== 'quarantined' && health !== 'wrongChain';
      return (
        (isTrusted ? 0 : 16) +
        (health === 'healthy' ? 0 : 8) +
        (lastPollSucceeded && !isLate ? 0 : 4) +
        (heads !== undefined && this.#heads.isOnChain(heads) && !this.#lags(node) ? 0 : 2) +
        ((heads?.latest.number ?? -1) >= (blockNumber ?? this.#heads.latest?.number ?? 0) ? 0 : 1)
      );
    };
    return this.#nodes.filter(({ health }) => health !== 'drained').sort((a, b) => penalty(a) - penalty(b));
  }

  /** True if a node has a block of the head's chain. A node on another fork surely has only the final blocks. */
  #has({ heads }: UpstreamNode, block: number): boolean {
    if (heads === undefined || heads.latest.number < block) return false;
    return block <= (this.#heads.final ?? -1) || this.#nodes.length === 1 || this.#heads.isOnChain(heads);
  }

  #costOf(node: UpstreamNode, needsBlock: number | undefined): number {
    const has = needsBlock === undefined || this.#has(node, needsBlock);
    if (node.health !== 'healthy') return (has ? 2 : 3) * TIER + node.expectedMs;
    // This healthy node does not have the block yet, so it would return null or a result of another fork.
    if (!has) return Number.POSITIVE_INFINITY;
    return (this.#lags(node) ? TIER : 0) + node.expectedMs;
  }

  #lags({ heads }: UpstreamNode): boolean {
    return (this.#heads.latest?.number ?? 0) - (heads?.latest.number ?? -1) > MAX_LAG_BLOCKS;
  }
}
