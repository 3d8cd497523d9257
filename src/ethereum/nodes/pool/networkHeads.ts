import type { Hash } from '../../traces/index.ts';
import { type Finality, finalNumber } from './finality.ts';
import type { BlockRef, HeadBlock, NodeHeads } from './nodeHeads.ts';
import type { HeadsState } from './poolState.ts';

/** The heads that one node reported in its last poll, with the name of the node. */
export interface Claim {
  readonly node: string;
  readonly heads: NodeHeads;
}

/**
 * Time for which a head is kept although no healthy node has it. If the node that reported it has died, the other
 * nodes reach this height within a block time. If they do not, the chain has gone back, and a lower head is used.
 */
const HOLD_MS = 15_000;
/** Maximum lead of a node over the second highest of three or more. A node further ahead is ignored as an outlier. */
const MAX_LEAD_BLOCKS = 64;
/** Number of blocks below the head whose hashes are kept. It exceeds the lag up to which a node is used. */
const REMEMBERED_BLOCKS = 64;

/**
 * Merges the heads of all nodes into one head: the highest block or, if nodes report several blocks at that height,
 * the block that most nodes have. The head does not go back only because a lagging node has answered.
 */
export class NetworkHeads {
  #latest: HeadBlock | undefined;
  #safe: HeadBlock | undefined;
  #finalized: HeadBlock | undefined;
  #reachedAtMs = 0;
  /** Names of the nodes that have reported a block at the head's height or above. */
  #reporters = new Set<string>();
  /** Block hashes of the head's chain by block number, collected from heads and their parent hashes. */
  readonly #hashes = new Map<number, Hash>();
  /** Lowest number from which each kept block is known to be the parent of the next one. */
  #linkedFrom = 0;
  #waiting: Array<{ readonly number: number; readonly reached: () => void }> = [];
  /** Called with each new head, before requests that wait for this height continue. */
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

  /** Number of the highest block that can never be replaced. It may differ from the `finalized` block. */
  get final(): number | undefined {
    return finalNumber(this.#finality(), { latest: this.#latest, finalized: this.#finalized });
  }

  /** The merged heads of all nodes; undefined before the first node has reported its heads. */
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
      linkedFrom: this.#linkedFrom,
    };
  }

  adopt({ latest, safe, finalized, hashes, linkedFrom }: HeadsState): void {
    const before = this.#latest;
    this.#latest = latest;
    this.#safe = safe;
    this.#finalized = finalized;
    this.#linkedFrom = linkedFrom;
    this.#hashes.clear();
    for (const [number, hash] of hashes) this.#hashes.set(number, hash);
    if (latest !== undefined && latest.hash !== before?.hash) this.#changed(latest, before);
  }

  /** Returns the hash of the block with a number on the head's chain; undefined if that hash is not kept. */
  hashOf(number: number): string | undefined {
    return this.#hashes.get(number);
  }

  /** The ancestors of the head whose hashes are kept, in ascending order. Each is the parent of the next. */
  get ancestors(): BlockRef[] {
    const ancestors: BlockRef[] = [];
    for (let number = (this.#latest?.number ?? 0) - 1; number >= Math.max(0, this.#linkedFrom); number--) {
      const hash = this.#hashes.get(number);
      if (hash === undefined) break;
      ancestors.push({ number, hash });
    }
    return ancestors.reverse();
  }

  /** Returns false if a node's head is on another fork; true if no hash is kept for the height of its head. */
  isOnChain({ latest }: NodeHeads): boolean {
    const hash = this.#hashes.get(latest.number);
    return hash === undefined || hash === latest.hash;
  }

  /** Merges the heads that nodes reported in their last polls. `nowMs` must come from a monotonic clock. */
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
    // A lagging node must not move `safe` back. Only a head that goes back does.
    const safe = lowest(credible, 'safe', this.#latest);
    if (safe !== undefined && safe.number >= (this.#safe?.number ?? 0)) this.#safe = safe;
    if (this.#latest !== undefined && (this.#safe?.number ?? 0) > this.#latest.number)
      this.#safe = this.#latest;
    // The finalized block number never decreases. It follows the lowest one that the nodes report.
    const finalized = lowest(credible, 'finalized', this.#latest);
    if (finalized !== undefined && finalized.number > (this.#finalized?.number ?? -1))
      this.#finalized = finalized;
  }

  /** True if all nodes that had reported the head's height are still healthy, and now report a lower block. */
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

  /** Resolves with true if a node reaches a block number within `timeoutMs`, otherwise with false. */
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

  /** Continues the requests that wait for a node to reach this block number, or a lower one. */
  nodeReached(number: number): void {
    for (const waiter of this.#waiting) if (waiter.number <= number) waiter.reached();
  }

  #set(head: HeadBlock): void {
    const before = this.#latest;
    this.#latest = head;
    if (before?.number !== head.number) this.#reporters.clear();
    // The chain has gone back, so its safe block may have been replaced.
    if (before !== undefined && head.number < before.number) this.#safe = undefined;
    this.#remember(head);
    this.#changed(head, before);
  }

  #remember({ number, hash, parentHash }: HeadBlock): void {
    const parent = this.#hashes.get(number - 1);
    // If the parent differs, the chain may have forked at any depth, so all hashes below are unknown too.
    const isSameChain = parent === parentHash || (parent === undefined && !this.#hashes.has(number));
    if (!isSameChain) this.#hashes.clear();
    this.#linkedFrom = parent === parentHash ? Math.min(this.#linkedFrom, number - 1) : number - 1;
    for (const known of this.#hashes.keys())
      if (known >= number || known < number - REMEMBERED_BLOCKS) this.#hashes.delete(known);
    this.#hashes.set(number - 1, parentHash);
    this.#hashes.set(number, hash);
  }
}

/** Returns the highest block; of several at that height, the one that most nodes have; on a tie, the current head. */
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

/** Removes the claim of a node far ahead of all others. With fewer than three nodes, no majority can decide. */
function withoutOutliers(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < 3) return claims;
  const numbers = claims.map(({ heads }) => heads.latest.number).sort((a, b) => b - a);
  const second = numbers[1] ?? 0;
  return claims.filter(({ heads }) => heads.latest.number <= second + MAX_LEAD_BLOCKS);
}

/** Returns the lowest block that a node reports for a tag. Ignores nodes that lag far behind the head. */
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
