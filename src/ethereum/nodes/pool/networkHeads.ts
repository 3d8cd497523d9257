import { type Finality, finalNumber } from './finality.ts';
import type { HeadBlock, NodeHeads } from './nodeHeads.ts';
import type { HeadsState } from './poolState.ts';

/** Heads that a healthy node reported. */
export interface Claim {
  readonly node: string;
  readonly heads: NodeHeads;
}

/**
 * Time for which a head is kept although no healthy node has it. The node that reported it may have died, and the
 * other nodes reach the head within a block time. After HOLD_MS the chain must have gone back.
 */
const HOLD_MS = 15_000;
/** Maximum lead over the second highest of three or more nodes. A node further ahead is on its own chain: ignored. */
const MAX_LEAD_BLOCKS = 64;
/** Number of block hashes kept below the head. It exceeds the lag up to which a node is used. */
const REMEMBERED_BLOCKS = 64;

/**
 * Merges the heads of all nodes into the heads that readers see: the highest block, or among several at one height,
 * the block that most nodes have. The head never goes back just because another node answered. A single node's heads
 * are used unchanged.
 */
export class NetworkHeads {
  #latest: HeadBlock | undefined;
  #safe: HeadBlock | undefined;
  #finalized: HeadBlock | undefined;
  #reachedAtMs = 0;
  /** Nodes that have reported the head's height or more. */
  #reporters = new Set<string>();
  /** Hashes of the head's chain by number, as known from heads and their parents. */
  readonly #hashes = new Map<number, string>();
  #waiting: Array<{ readonly number: number; readonly reached: () => void }> = [];
  /** Called with each new head before the requests that wait for it continue. */
  readonly #changed: (head: HeadBlock, before: HeadBlock | undefined) => void;
  readonly #finality: () => Finality;

  constructor(
    changed: (head: HeadBlock, before: HeadBlock | undefined) => void,
    finality: () => Finality = () => 'node',
  ) {
    this.#changed = changed;
    this.#finality = finality;
  }

  get latest(): HeadBlock | undefined {
    return this.#latest;
  }
  get safe(): number | undefined {
    return this.#safe?.number;
  }
  get finalized(): number | undefined {
    return this.#finalized?.number;
  }

  /** Highest block that can never be replaced. May differ from the block with the tag `finalized`. */
  get final(): number | undefined {
    const [latest, finalized] = [this.#latest, this.#finalized];
    return finalNumber(this.#finality(), { ...(latest && { latest }), ...(finalized && { finalized }) });
  }

  /** The merged heads as blocks; undefined before the first report. */
  get blocks(): NodeHeads | undefined {
    const [latest, safe, finalized] = [this.#latest, this.#safe, this.#finalized];
    return latest && { latest, ...(safe && { safe }), ...(finalized && { finalized }) };
  }

  get state(): HeadsState {
    return {
      latest: this.#latest,
      safe: this.#safe,
      finalized: this.#finalized,
      hashes: new Map(this.#hashes),
    };
  }

  adopt({ latest, safe, finalized, hashes }: HeadsState): void {
    const before = this.#latest;
    this.#latest = latest;
    this.#safe = safe;
    this.#finalized = finalized;
    this.#hashes.clear();
    for (const [number, hash] of hashes) this.#hashes.set(number, hash);
    if (latest !== undefined && latest.hash !== before?.hash) this.#changed(latest, before);
  }

  /** Returns the hash of a block of the head's chain, if it is kept. */
  hashOf(number: number): string | undefined {
    return this.#hashes.get(number);
  }

  /** Returns false if the node's head is known to be on another fork; true if it lags too far to be compared. */
  isOnChain({ latest }: NodeHeads): boolean {
    const hash = this.#hashes.get(latest.number);
    return hash === undefined || hash === latest.hash;
  }

  /** Merges the heads that the healthy nodes report now. `nowMs` must be monotonic. */
  update(claims: readonly Claim[], nowMs: number): void {
    const credible = withoutOutliers(claims);
    const best = highest(credible, this.#latest);
    if (best === undefined) return;
    const head = this.#latest;
    if (head === undefined || best.number >= head.number) {
      this.#reachedAtMs = nowMs;
      if (best.hash !== head?.hash) this.#set(best);
    } else if (this.#isTakenBack(claims, head) || nowMs - this.#reachedAtMs > HOLD_MS) {
      this.#set(best);
    }
    this.#notePublishers(credible);
    // A lagging node does not move `safe` back, but a chain that went back does.
    const safe = lowest(credible, 'safe', this.#latest);
    if (safe !== undefined && safe.number >= (this.#safe?.number ?? 0)) this.#safe = safe;
    if (this.#latest !== undefined && (this.#safe?.number ?? 0) > this.#latest.number)
      this.#safe = this.#latest;
    // `finalized` only increases, to the lowest value that the nodes report.
    const finalized = lowest(credible, 'finalized', this.#latest);
    if (finalized !== undefined && finalized.number > (this.#finalized?.number ?? -1))
      this.#finalized = finalized;
  }

  /** True if every node that reported the head is healthy and now reports a lower block. */
  #isTakenBack(claims: readonly Claim[], head: HeadBlock): boolean {
    const heights = new Map(claims.map(({ node, heads }) => [node, heads.latest.number]));
    return [...this.#reporters].every(
      (node) => (heights.get(node) ?? Number.POSITIVE_INFINITY) < head.number,
    );
  }

  #notePublishers(claims: readonly Claim[]): void {
    for (const { node, heads } of claims)
      if (heads.latest.number >= (this.#latest?.number ?? 0)) this.#reporters.add(node);
  }

  /** Resolves with true if the head reaches a block in time, otherwise with false. */
  reaches(number: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (reached: boolean): void => {
        clearTimeout(timer);
        this.#waiting = this.#waiting.filter((one) => one !== waiter);
        resolve(reached);
      };
      const waiter = { number, reached: () => done(true) };
      const timer = setTimeout(() => done(false), timeoutMs);
      this.#waiting.push(waiter);
    });
  }

  /** Called by the pool when a node has reached a block. */
  nodeReached(number: number): void {
    for (const waiter of this.#waiting) if (waiter.number <= number) waiter.reached();
  }

  #set(head: HeadBlock): void {
    const before = this.#latest;
    this.#latest = head;
    if (before?.number !== head.number) this.#reporters.clear();
    // The safe block of a chain that went back is invalid.
    if (before !== undefined && head.number < before.number) this.#safe = undefined;
    this.#remember(head);
    this.#changed(head, before);
  }

  #remember({ number, hash, parentHash }: HeadBlock): void {
    const parent = this.#hashes.get(number - 1);
    // After a possible fork, nothing is known about blocks below the parent either.
    const isSameChain = parent === parentHash || (parent === undefined && !this.#hashes.has(number));
    if (!isSameChain) this.#hashes.clear();
    for (const known of this.#hashes.keys())
      if (known >= number || known < number - REMEMBERED_BLOCKS) this.#hashes.delete(known);
    this.#hashes.set(number - 1, parentHash);
    this.#hashes.set(number, hash);
  }
}

/** Returns the highest block; at one height, the block that most nodes have; on a tie, the current head. */
function highest(claims: readonly Claim[], head: HeadBlock | undefined): HeadBlock | undefined {
  const top = Math.max(...claims.map(({ heads }) => heads.latest.number));
  const blocks = claims.flatMap(({ heads }) => (heads.latest.number === top ? heads.latest : []));
  const nodesWith = ({ hash }: HeadBlock): number => blocks.filter((block) => block.hash === hash).length;
  const weightOf = (block: HeadBlock): number => nodesWith(block) + (block.hash === head?.hash ? 0.5 : 0);
  return blocks.reduce<HeadBlock | undefined>(
    (best, block) => (best === undefined || weightOf(block) > weightOf(best) ? block : best),
    undefined,
  );
}

/** Removes nodes that are far ahead of all others. With fewer than three nodes no majority exists. */
function withoutOutliers(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < 3) return claims;
  const numbers = claims.map(({ heads }) => heads.latest.number).sort((a, b) => b - a);
  const second = numbers[1] ?? 0;
  return claims.filter(({ heads }) => heads.latest.number <= second + MAX_LEAD_BLOCKS);
}

/** Returns the lowest block with a tag. Ignores nodes that lag far behind the head. */
function lowest(
  claims: readonly Claim[],
  tag: 'safe' | 'finalized',
  head: HeadBlock | undefined,
): HeadBlock | undefined {
  const near = claims.filter(({ heads }) => heads.latest.number + MAX_LEAD_BLOCKS >= (head?.number ?? 0));
  const blocks = near.flatMap(({ heads }) => heads[tag] ?? []);
  return blocks.reduce<HeadBlock | undefined>(
    (low, block) => (low === undefined || block.number < low.number ? block : low),
    undefined,
  );
}
