import type { WorkBudget } from '../history/reader.ts';
import { listOf, type PostingList } from './list.ts';

/**
 * If one list is more than this many times as long as the other, it is searched for each position of the other.
 * Otherwise both lists are walked in parallel.
 */
const SEARCHED_IF_LONGER_BY = 16;

/** Memory that an entry needs for its keys, list and map, as the number of positions that would fit into it. */
const ENTRY_POSITIONS = 32;

/** Number of positions that a linear merge compares at the cost of one position of a heap merge. */
const POSITIONS_PER_WORK = 16;

interface Pair {
  readonly list: PostingList;
  /** Lengths of the two lists from which the pair was computed. */
  readonly fromLength: number;
  readonly toLength: number;
  /** Position up to which the intersection is complete: the smaller of the two lists' last positions. */
  readonly upTo: number;
}

/**
 * Cache of intersections of a sender's and a recipient's list, because busy pairs are requested repeatedly. In an
 * intersection, a search can skip matches without reading them; in two separate lists it cannot.
 */
export class PairIntersections {
  readonly #maxPositions: number;
  readonly #newId: () => number;
  /** Keyed by the id of the sender's list, then by the id of the recipient's list. */
  readonly #pairs = new Map<number, Map<number, Pair>>();
  #keptPositions = 0;

  /** `newId` returns an id that no list has. */
  constructor(maxPositions: number, newId: () => number) {
    this.#maxPositions = maxPositions;
    this.#newId = newId;
  }

  /** Must be called when lists changed in any way other than growing. */
  clear(): void {
    this.#pairs.clear();
    this.#keptPositions = 0;
  }

  /** Returns the intersection of two lists. If they are older snapshots, it may contain positions added later. */
  of(from: PostingList, to: PostingList, work: WorkBudget): PostingList {
    const kept = this.#pairs.get(from.id)?.get(to.id);
    if (kept !== undefined && kept.fromLength === from.length && kept.toLength === to.length)
      return kept.list;
    // A resumed search has older snapshots of the lists; an intersection of newer, longer lists is valid for it too.
    const upTo = Math.min(lastOf(from), lastOf(to));
    if (kept !== undefined && upTo <= kept.upTo) return kept.list;
    // Lists only grow, so new common positions follow those found before.
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
