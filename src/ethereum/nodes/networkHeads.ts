import { type Finality, finalNumber } from './finality.ts';
import type { HeadBlock, NodeHeads } from './nodeHeads.ts';
import type { HeadsState } from './poolState.ts';

/** What a healthy node says of its chain. */
export interface Claim {
  readonly node: string;
  readonly heads: NodeHeads;
}

/**
 * A head that no healthy node has reached is kept this long: the node that told of it may have died, and the
 * others follow within a block. After that the chain itself must have gone back.
 */
const HOLD_MS = 15_000;
/** A node so far ahead of at least two others that agree is on a chain of its own. */
const MAX_LEAD_BLOCKS = 64;
/** Blocks below the head whose hashes are remembered: more than a node may lag and still be asked. */
const REMEMBERED_BLOCKS = 64;

/**
 * The heads of the chain as readers see them, from what all nodes say. The head is one block of one chain: the highest, and
 * of several at one height the one that most nodes have. It never goes backwards because another node was asked; with a
 * single node it is that node's, wherever it goes.
 */
export class NetworkHeads {
  #latest: HeadBlock | undefined;
  #safe: HeadBlock | undefined;
  #finalized: HeadBlock | undefined;
  #reachedAtMs = 0;
  /** Nodes that have said that the head's height is reached. */
  #tellers = new Set<string>();
  /** Hashes of the head's chain by number, as far as heads and their parents told them. */
  readonly #hashes = new Map<number, string>();
  #waiting: Array<{ readonly number: number; readonly reached: () => void }> = [];
  /** Called with each new head, before anybody waiting for it goes on. */
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

  /** The highest block that can never be replaced, which need not be the one that is tagged `finalized`. */
  get final(): number | undefined {
    const [latest, finalized] = [this.#latest, this.#finalized];
    return finalNumber(this.#finality(), { ...(latest && { latest }), ...(finalized && { finalized }) });
  }

  /** The same as blocks; undefined before any node has told. */
  get blocks(): NodeHeads | undefined {
    const [latest, safe, finalized] = [this.#latest, this.#safe, this.#finalized];
    return latest && { latest, ...(safe && { safe }), ...(finalized && { finalized }) };
  }

  /** All of it, for another process. */
  get state(): HeadsState {
    return {
      latest: this.#latest,
      safe: this.#safe,
      finalized: this.#finalized,
      hashes: new Map(this.#hashes),
    };
  }

  /** Becomes what another process has found. */
  follow({ latest, safe, finalized, hashes }: HeadsState): void {
    const before = this.#latest;
    this.#latest = latest;
    this.#safe = safe;
    this.#finalized = finalized;
    this.#hashes.clear();
    for (const [number, hash] of hashes) this.#hashes.set(number, hash);
    if (latest !== undefined && latest.hash !== before?.hash) this.#changed(latest, before);
  }

  /** The hash of a block of the head's chain, where it is remembered. */
  hashOf(number: number): string | undefined {
    return this.#hashes.get(number);
  }

  /** Whether a node is on the head's chain, as far as that is known: it may be further behind than is remembered. */
  isOnChain({ latest }: NodeHeads): boolean {
    const hash = this.#hashes.get(latest.number);
    return hash === undefined || hash === latest.hash;
  }

  /** Takes in what the healthy nodes say now. `nowMs` is a clock that only grows. */
  update(claims: readonly Claim[], nowMs: number): void {
    const credible = withoutLoners(claims);
    const best = highest(credible, this.#latest);
    if (best === undefined) return;
    const head = this.#latest;
    if (head === undefined || best.number >= head.number) {
      this.#reachedAtMs = nowMs;
      if (best.hash !== head?.hash) this.#set(best);
    } else if (this.#isTakenBack(claims, head) || nowMs - this.#reachedAtMs > HOLD_MS) {
      this.#set(best);
    }
    this.#noteTellers(credible);
    // A node that lags takes nothing back that readers have seen; a chain that went back does.
    const safe = lowest(credible, 'safe', this.#latest);
    if (safe !== undefined && safe.number >= (this.#safe?.number ?? 0)) this.#safe = safe;
    if (this.#latest !== undefined && (this.#safe?.number ?? 0) > this.#latest.number)
      this.#safe = this.#latest;
    // Final is final: it grows only, and no further than every node agrees.
    const finalized = lowest(credible, 'finalized', this.#latest);
    if (finalized !== undefined && finalized.number > (this.#finalized?.number ?? -1))
      this.#finalized = finalized;
  }

  /** Whether all who told of the head are there and say now that the chain is shorter: then it is. */
  #isTakenBack(claims: readonly Claim[], head: HeadBlock): boolean {
    const heights = new Map(claims.map(({ node, heads }) => [node, heads.latest.number]));
    return [...this.#tellers].every((node) => (heights.get(node) ?? Number.POSITIVE_INFINITY) < head.number);
  }

  #noteTellers(claims: readonly Claim[]): void {
    for (const { node, heads } of claims)
      if (heads.latest.number >= (this.#latest?.number ?? 0)) this.#tellers.add(node);
  }

  /** Resolves with whether the head reaches a block within the time. */
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

  /** For the pool: a node has reached a block. */
  nodeReached(number: number): void {
    for (const waiter of this.#waiting) if (waiter.number <= number) waiter.reached();
  }

  #set(head: HeadBlock): void {
    const before = this.#latest;
    this.#latest = head;
    if (before?.number !== head.number) this.#tellers.clear();
    // What was safe on a chain that went back is told anew.
    if (before !== undefined && head.number < before.number) this.#safe = undefined;
    this.#remember(head);
    this.#changed(head, before);
  }

  #remember({ number, hash, parentHash }: HeadBlock): void {
    const parent = this.#hashes.get(number - 1);
    // Of another chain, or perhaps: then nothing is known of the blocks below the parent either.
    const isSameChain = parent === parentHash || (parent === undefined && !this.#hashes.has(number));
    if (!isSameChain) this.#hashes.clear();
    for (const known of this.#hashes.keys())
      if (known >= number || known < number - REMEMBERED_BLOCKS) this.#hashes.delete(known);
    this.#hashes.set(number - 1, parentHash);
    this.#hashes.set(number, hash);
  }
}

/** The highest block; of several at one height the one that most nodes have, and of those the one that is the head now. */
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

/** Claims without those that run away from all others. With fewer than three nobody can say who is right. */
function withoutLoners(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < 3) return claims;
  const numbers = claims.map(({ heads }) => heads.latest.number).sort((a, b) => b - a);
  const second = numbers[1] ?? 0;
  return claims.filter(({ heads }) => heads.latest.number <= second + MAX_LEAD_BLOCKS);
}

/** The lowest block that the nodes give a tag; nodes that lag far behind the head have no say. */
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
