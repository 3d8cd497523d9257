/**
 * TCP connections by client, in the order in which they became idle or busy. When a new connection needs a slot, the
 * table selects the connection that must close. A busy connection keeps its slot until its queries are answered.
 */

export interface SlotHolder {
  /** Client address: IPv4, or IPv6 /64. */
  readonly client: string;
}

interface ClientEntry<T> {
  /** Connections in the order in which they became idle or busy. The value is the sequence number of that change. */
  readonly idle: Map<T, number>;
  readonly busy: Map<T, number>;
}

export class ConnectionTable<T extends SlotHolder> {
  readonly #clients = new Map<string, ClientEntry<T>>();
  #size = 0;
  #moment = 0;

  get size(): number {
    return this.#size;
  }

  *all(): IterableIterator<T> {
    for (const { idle, busy } of this.#clients.values()) {
      yield* idle.keys();
      yield* busy.keys();
    }
  }

  countOf(client: string): number {
    const entry = this.#clients.get(client);
    return entry === undefined ? 0 : entry.idle.size + entry.busy.size;
  }

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

  /** Records that a connection is now idle or busy: moves it to the end of its client's idle or busy connections. */
  touch(connection: T, isBusy: boolean): void {
    const entry = this.#clients.get(connection.client);
    if (entry === undefined || !(entry.idle.has(connection) || entry.busy.has(connection))) return;
    // Further queries do not change the position of a connection that is already busy.
    if (isBusy && entry.busy.has(connection)) return;
    entry.idle.delete(connection);
    entry.busy.delete(connection);
    (isBusy ? entry.busy : entry.idle).set(connection, this.#moment++);
  }

  /** Moves a busy connection that was asked to close to the end, so that another connection is asked next. */
  moveToEnd(connection: T): void {
    const busy = this.#clients.get(connection.client)?.busy;
    if (busy?.delete(connection)) busy.set(connection, this.#moment++);
  }

  longestIdleOf(client: string): T | undefined {
    return this.#clients.get(client)?.idle.keys().next().value;
  }

  /**
   * Returns the connection to close in favour of another client. Considers only clients that have an idle connection
   * and more than `moreThan` connections. Of those with the most connections, selects the connection that is idle
   * longest.
   */
  longestIdle(moreThan: number): T | undefined {
    return this.#firstOfLargest(({ idle }) => idle, moreThan);
  }

  /** Like `longestIdle`, but selects a busy connection. */
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
