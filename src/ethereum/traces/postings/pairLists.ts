import type { WorkLeft } from '../history/reader.ts';
import { listOf, type PostingList } from './list.ts';

/** A list so many times as long as the other is searched for each of the other's positions; else both are walked. */
const SEARCHED_IF_LONGER_BY = 16;

/** What an entry weighs besides its positions, counted in positions: keys, list, map. */
const ENTRY_POSITIONS = 32;

/** Positions looked at side by side that take as long as one of a walk over many lists. */
const POSITIONS_PER_WORK = 16;

interface Pair {
  readonly list: PostingList;
  /** How much of either list the pair was made from. */
  readonly fromLength: number;
  readonly toLength: number;
  /** The last position up to which it is complete: the lesser of their last ones. */
  readonly upTo: number;
}

/**
 * What a list of senders and one of recipients have in common, kept for as long as there is room: pairs of busy addresses
 * are asked for again and again, and as lists they can be skipped through, where two lists side by side must be walked.
 */
export class PairLists {
  readonly #maxPositions: number;
  readonly #newId: () => number;
  /** By the sender's list and then the recipient's. */
  readonly #pairs = new Map<number, Map<number, Pair>>();
  #keptPositions = 0;

  /** `newId` gives an id that no list has. */
  constructor(maxPositions: number, newId: () => number) {
    this.#maxPositions = maxPositions;
    this.#newId = newId;
  }

  /** To be called when lists did more than to grow. */
  clear(): void {
    this.#pairs.clear();
    this.#keptPositions = 0;
  }

  /** The traces that are in both lists, and, where those have grown since, some behind their ends. */
  of(from: PostingList, to: PostingList, work: WorkLeft): PostingList {
    const kept = this.#pairs.get(from.id)?.get(to.id);
    if (kept !== undefined && kept.fromLength === from.length && kept.toLength === to.length)
      return kept.list;
    // A search that leaves off holds lists of a while ago: what was made from longer ones is as good.
    const upTo = Math.min(lastOf(from), lastOf(to));
    if (kept !== undefined && upTo <= kept.upTo) return kept.list;
    // Lists only grow, so what they have in common does, behind what was found before.
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

/** A list from an index on. */
interface Tail {
  readonly list: PostingList;
  readonly start: number;
}

const lengthOf = ({ list, start }: Tail): number => list.length - start;
const positionsOf = ({ list, start }: Tail): Uint32Array => list.from(start);

const lastOf = (list: PostingList): number => (list.length === 0 ? -1 : list.at(list.length - 1));

/** The positions that both have. */
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
