import type { Block, ChainEnds } from './nodePoll.ts';

/** What a node in good standing says of its chain. */
export interface Claim {
  readonly node: string;
  readonly ends: ChainEnds;
}

/**
 * A head that no node in good standing has reached is kept this long: the node that told of it may have died, and the
 * others follow within a block. After that the chain itself must have gone back.
 */
const HOLD_MS = 15_000;
/** A node so far ahead of at least two others that agree is on a chain of its own. */
const MAX_LEAD_BLOCKS = 64;

/**
 * The ends of the chain as readers see them, from what all nodes say. The head never goes backwards because another
 * node was asked; with a single node it is that node's, wherever it goes.
 */
export class NetworkHeads {
  #latest: Block | undefined;
  #safe: number | undefined;
  #finalized: number | undefined;
  #reachedAtMs = 0;
  #waiting: Array<{ readonly number: number; readonly reached: () => void }> = [];
  /** Called with each new head, before anybody waiting for it goes on. */
  readonly #changed: (head: Block, before: Block | undefined) => void;

  constructor(changed: (head: Block, before: Block | undefined) => void) {
    this.#changed = changed;
  }

  get latest(): Block | undefined {
    return this.#latest;
  }
  get safe(): number | undefined {
    return this.#safe;
  }
  get finalized(): number | undefined {
    return this.#finalized;
  }

  /** Takes in what the nodes in good standing say now. `nowMs` is a clock that only grows. */
  update(claims: readonly Claim[], nowMs: number): void {
    const credible = withoutLoners(claims);
    const highest = credible.reduce<Block | undefined>(
      (best, { ends }) => (best === undefined || ends.latest.number > best.number ? ends.latest : best),
      undefined,
    );
    if (highest === undefined) return;
    const head = this.#latest;
    if (head === undefined || highest.number >= head.number) this.#reachedAtMs = nowMs;
    const goneBack = claims.length === 1 || nowMs - this.#reachedAtMs > HOLD_MS;
    if (head === undefined || highest.number > head.number || (highest.number < head.number && goneBack))
      this.#set(highest);
    else if (highest.number === head.number && !credible.some(({ ends }) => ends.latest.hash === head.hash))
      this.#set(highest);
    // A node that lags takes nothing back that readers have seen; a chain that went back does.
    const safe = lowest(credible, 'safe', this.#latest);
    if (safe !== undefined)
      this.#safe = Math.min(Math.max(safe, this.#safe ?? safe), this.#latest?.number ?? safe);
    // Final is final: it grows only, and no further than every node agrees.
    const finalized = lowest(credible, 'finalized', this.#latest);
    if (finalized !== undefined && finalized > (this.#finalized ?? -1)) this.#finalized = finalized;
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

  #set(head: Block): void {
    const before = this.#latest;
    this.#latest = head;
    this.#changed(head, before);
  }
}

/** Claims without those that run away from all others. With fewer than three nobody can say who is right. */
function withoutLoners(claims: readonly Claim[]): readonly Claim[] {
  if (claims.length < 3) return claims;
  const numbers = claims.map(({ ends }) => ends.latest.number).sort((a, b) => b - a);
  const second = numbers[1] ?? 0;
  return claims.filter(({ ends }) => ends.latest.number <= second + MAX_LEAD_BLOCKS);
}

/** The lowest block that the nodes give a tag; nodes that lag far behind the head have no say. */
function lowest(
  claims: readonly Claim[],
  tag: 'safe' | 'finalized',
  head: Block | undefined,
): number | undefined {
  const near = claims.filter(({ ends }) => ends.latest.number + MAX_LEAD_BLOCKS >= (head?.number ?? 0));
  const numbers = near.flatMap(({ ends }) => ends[tag]?.number ?? []);
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}
