import type { WorkBudget } from '../history/reader.ts';
import { listOf, type PostingList } from './list.ts';

/**
 * If one of two lists is more than this many times as long as the other, each position of the short list is looked up
 * in the long one. Otherwise both lists are read completely, in parallel.
 */
const SEARCHED_IF_LONGER_BY = 16;

/** Memory that one cache entry needs besides its positions, expressed as a number of positions. */
const ENTRY_POSITIONS = 32;

/** Number of positions that an intersection of two lists reads in the time of one unit of the work budget. */
const POSITIONS_PER_WORK = 16;

interface Pair {
  readonly list: PostingList;
  /** Lengths of the sender's and of the recipient's list when their intersection was computed. */
  readonly fromLength: number;
  readonly toLength: number;
  /** Up to this position the intersection is complete. It is the smaller of the last positions of the two lists. */
  readonly upTo: number;
}

/**
 * Cache of intersections: for a sender and a recipient, the positions that the lists of both contain. Busy pairs are
 * requested repeatedly. In an intersection, a search can skip matches without reading them; in two lists it cannot.
 */
export class PairIntersections {
  readonly #maxPositions: number;
  readonly #newId: () => number;
  /** Keyed by the id of the sender's list, then by the id of the recipient's list. */
  readonly #pairs = new Map<number, Map<number, Pair>>();
  #keptPositions = 0;

  /** @param newId returns an id that no posting list has. */
  constructor(maxPositions: number, newId: () => number) {
    this.#maxPositions = maxPositions;
    this.#newId = newId;
  }

  /** Removes all entries. Must be called when posting lists changed in any way other than by appended positions. */
  clear(): void {
    this.#pairs.clear();
    this.#keptPositions = 0;
  }

  /**
   * Returns the intersection of a sender's and a recipient's list. If these are older snapshots of the lists, it may
   * contain positions that were added later.
   */
  of(from: PostingList, to: PostingList, work: WorkBudget): PostingList {
    const kept = this.#pairs.get(from.id)?.get(to.id);
    if (kept !== undefined && kept.fromLength === from.length && kept.toLength === to.length)
      return kept.list;
    // A resumed search has older snapshots of the lists. The intersection of newer, longer lists is valid for it too.
    const upTo = Math.min(lastOf(from), lastOf(to));
    if (kept !== undefined && upTo <= kept.upTo) return kept.list;
    // Positions are only appended to lists, so new common positions are above all positions of the kept intersection.
    const start = kept === undefined ? 0 : kept.upTo + 1;
    const tails = [from, to].map((list) => ({ list, start: list.lowerBound(start) })) as [Tail, Tail];
    work.spend(Math.ceil((lengthOf(tails[0]) + lengthOf(tails[1])) / POSITIONS_PER_WORK));
    const added = common(...tails);
    const list = kept !== undefined && added.length === 0 ? kept.list : this.#join(kept?.list, added);
    this.#makeRoom(list.length - (kept?.list.length ?? 0) + (kept === undefined ? ENTRY_POSITIONS : 0));
    const pairs = this.#pairs.get(from.id) ?? new Map<number, Pair>();
    this.#pairs.set(from.id, pairs);
    pairs.set(to.id, { list, fromLength: from.length, toLength: to.length, upTo });
    return list;
  }

  #join(before: PostingList | undefined, added: Uint32Array): PostingList {
    const positions = new Uint32Array((before?.length ?? 0) + added.length);
    if (before !== undefined) positions.set(before.from(0));
    positions.set(added, before?.length ?? 0);
    return listOf(before?.id ?? this.#newId(), positions);
  }

  #makeRoom(positions: number): void {
    this.#keptPositions += positions;
    if (this.#keptPositions > this.#maxPositions) this.clear();
  }
}

interface Tail {
  readonly list: PostingList;
  readonly start: number;
}

const lengthOf = ({ list, start }: Tail): number => list.length - start;
const positionsOf = ({ list, start }: Tail): Uint32Array => list.from(start);

const lastOf = (list: PostingList): number => (list.length === 0 ? -1 : list.at(list.length - 1));

/** Returns the positions that both lists contain. */
function common(a: Tail, b: Tail): Uint32Array {
  if (lengthOf(a) * SEARCHED_IF_LONGER_BY < lengthOf(b)) return searched(positionsOf(a), b);
  if (lengthOf(b) * SEARCHED_IF_LONGER_BY < lengthOf(a)) return searched(positionsOf(b), a);
  return walked(positionsOf(a), positionsOf(b));
}

function searched(few: Uint32Array, { list, start }: Tail): Uint32Array {
  const found: number[] = [];
  let index = start;
  for (const position of few) {
    index = list.lowerBound(position, index);
    if (index === list.length) break;
    if (list.at(index) === position) found.push(position);
  }
  return Uint32Array.from(found);
}

function walked(a: Uint32Array, b: Uint32Array): Uint32Array {
  const found = new Uint32Array(Math.min(a.length, b.length));
  let [i, j, count] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const x = a[i] ?? 0;
    const y = b[j] ?? 0;
    if (x === y) found[count++] = x;
    if (x <= y) i++;
    if (y <= x) j++;
  }
  return found.slice(0, count);
}
