interface Queue<C, T> {
  readonly client: C;
  /** Finished items are undefined, which frees their memory. */
  items: (T | undefined)[];
  /** Index of the first item whose work is not finished. */
  first: number;
  /** The work of the first item, if it has begun. */
  work: Iterator<unknown> | undefined;
  /** Index of this queue in `#turns`. */
  turn: number;
}

/** Number of finished items after which the array of a queue is cut. */
const CUT_ITEMS = 1_024;

/**
 * Items of several clients, with work to do for each item. Clients are served one after the other, one step of work at
 * a time, so that a client with many items, or with items that need many steps, does not delay the others. The items of
 * a client stay in order.
 */
export class ClientTurns<C, T> {
  readonly #workOf: (item: T, client: C) => Iterable<unknown>;
  readonly #finished: (item: T) => void;
  readonly #queues = new Map<C, Queue<C, T>>();
  /** The queues, in the order in which clients are served. */
  readonly #turns: Queue<C, T>[] = [];
  #next = 0;
  #size = 0;

  /** `workOf` yields after each step. `finished` is called after the last one, but not for removed items. */
  constructor(
    workOf: (item: T, client: C) => Iterable<unknown>,
    finished: (item: T) => void = () => undefined,
  ) {
    this.#workOf = workOf;
    this.#finished = finished;
  }

  /** Number of items whose work is not finished. */
  get size(): number {
    return this.#size;
  }

  add(client: C, item: T): void {
    let queue = this.#queues.get(client);
    if (queue === undefined) {
      queue = { client, items: [], first: 0, work: undefined, turn: this.#turns.length };
      this.#queues.set(client, queue);
      this.#turns.push(queue);
    }
    queue.items.push(item);
    this.#size++;
  }

  /** Does one step of work for the next client. Returns false if there are no items. */
  step(): boolean {
    if (this.#next >= this.#turns.length) this.#next = 0;
    const queue = this.#turns[this.#next];
    if (queue === undefined) return false;
    // The end of the work of an item is not a step, so the work of the next item begins.
    do
      queue.work ??= this.#workOf(queue.items[queue.first] as T, queue.client)[Symbol.iterator](); // a queue has items
    while (queue.work.next().done === true && this.#finish(queue));
    // If the queue was removed, another one is at this index now.
    if (this.#turns[this.#next] === queue) this.#next++;
    return true;
  }

  /** Returns the client with most items, and its first item. Undefined if there are no items. */
  largest(): { readonly client: C; readonly first: T } | undefined {
    let largest: Queue<C, T> | undefined;
    for (const queue of this.#turns)
      if (largest === undefined || lengthOf(queue) > lengthOf(largest)) largest = queue;
    return largest && { client: largest.client, first: largest.items[largest.first] as T }; // a queue has items
  }

  /** Removes and returns the items of a client, even one whose work has begun. */
  remove(client: C): readonly T[] {
    const queue = this.#queues.get(client);
    if (queue === undefined) return [];
    this.#size -= lengthOf(queue);
    this.#removeQueue(queue);
    return queue.items.slice(queue.first) as T[]; // they are not finished
  }

  /** Removes the first item. Returns true if the queue has another one. */
  #finish(queue: Queue<C, T>): boolean {
    if (this.#turns[queue.turn] !== queue) return false; // the work of the item removed the queue
    queue.work = undefined;
    const item = queue.items[queue.first] as T; // a queue has items
    queue.items[queue.first++] = undefined;
    this.#size--;
    this.#finished(item);
    if (lengthOf(queue) === 0) {
      this.#removeQueue(queue);
      return false;
    }
    if (queue.first >= CUT_ITEMS && queue.first >= queue.items.length / 2) {
      queue.items = queue.items.slice(queue.first);
      queue.first = 0;
    }
    return true;
  }

  #removeQueue(queue: Queue<C, T>): void {
    this.#queues.delete(queue.client);
    const last = this.#turns.pop();
    if (last === undefined || last === queue) return;
    this.#turns[queue.turn] = last;
    last.turn = queue.turn;
  }
}

const lengthOf = ({ items, first }: Queue<unknown, unknown>): number => items.length - first;
