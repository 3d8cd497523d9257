/**
 * Connections by client, in the order in which they became idle or busy: what is known when one has to give way to another.
 * One that waits for an answer is busy; it keeps its place until it is answered.
 */

/** Something that holds a place for a client. */
export interface Held {
  /** Who counts as one client: an IPv4 address, a /64 of IPv6. */
  readonly client: string;
}

interface ClientEntry<T> {
  /** In the order in which they became so, with the number of that moment. */
  readonly idle: Map<T, number>;
  readonly busy: Map<T, number>;
}

export class ConnectionTable<T extends Held> {
  readonly #clients = new Map<string, ClientEntry<T>>();
  #size = 0;
  #moment = 0;

  get size(): number {
    return this.#size;
  }

  /** Everything that holds a place, to look at each. */
  *all(): IterableIterator<T> {
    for (const { idle, busy } of this.#clients.values()) {
      yield* idle.keys();
      yield* busy.keys();
    }
  }

  /** How many a client holds. */
  heldBy(client: string): number {
    const entry = this.#clients.get(client);
    return entry === undefined ? 0 : entry.idle.size + entry.busy.size;
  }

  /** Adds a connection; it is idle. */
  add(connection: T): void {
    const entry = this.#clients.get(connection.client) ?? { idle: new Map(), busy: new Map() };
    this.#clients.set(connection.client, entry);
    entry.idle.set(connection, this.#moment++);
    this.#size++;
  }

  remove(connection: T): void {
    const entry = this.#clients.get(connection.client);
    if (entry === undefined || !(entry.idle.delete(connection) || entry.busy.delete(connection))) return;
    this.#size--;
    if (entry.idle.size + entry.busy.size === 0) this.#clients.delete(connection.client);
  }

  has(connection: T): boolean {
    const entry = this.#clients.get(connection.client);
    return entry !== undefined && (entry.idle.has(connection) || entry.busy.has(connection));
  }

  /** The connection was just active: it is the last of the idle, or of the busy ones. */
  note(connection: T, isBusy: boolean): void {
    const entry = this.#clients.get(connection.client);
    if (entry === undefined || !(entry.idle.has(connection) || entry.busy.has(connection))) return;
    // One that is busy already keeps its turn to give way: more questions do not make it younger.
    if (isBusy && entry.busy.has(connection)) return;
    entry.idle.delete(connection);
    entry.busy.delete(connection);
    (isBusy ? entry.busy : entry.idle).set(connection, this.#moment++);
  }

  /** A busy connection was asked to give way: the next time another one is. */
  postpone(connection: T): void {
    const busy = this.#clients.get(connection.client)?.busy;
    if (busy?.delete(connection)) busy.set(connection, this.#moment++);
  }

  /** The longest idle connection of a client. */
  longestIdleOf(client: string): T | undefined {
    return this.#clients.get(client)?.idle.keys().next().value;
  }

  /**
   * Which connection gives way to another client's: of the client that holds most, and more than `moreThan`, the longest
   * idle one, and of several such clients the longest idle of all. Undefined where none of them has one.
   */
  longestIdle(moreThan: number): T | undefined {
    return this.#firstOfLargest(({ idle }) => idle, moreThan);
  }

  /** The same among those that are busy. */
  longestBusy(moreThan: number): T | undefined {
    return this.#firstOfLargest(({ busy }) => busy, moreThan);
  }

  #firstOfLargest(queueOf: (entry: ClientEntry<T>) => Map<T, number>, moreThan: number): T | undefined {
    let found: T | undefined;
    let most = 0;
    let since = 0;
    for (const entry of this.#clients.values()) {
      const held = entry.idle.size + entry.busy.size;
      const [first] = queueOf(entry);
      if (first === undefined || held <= moreThan || held < most) continue;
      if (held === most && first[1] > since) continue;
      [found, since] = first;
      most = held;
    }
    return found;
  }
}
