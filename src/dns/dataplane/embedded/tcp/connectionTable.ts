/**
 * Clients' TCP connections that hold one of a limited number of slots, grouped by client. When another connection
 * needs a slot, the table selects the connection that must release its slot. A connection is busy while queries on
 * it are unanswered, otherwise idle.
 */

export interface SlotHolder {
  /** Client of the connection: an IPv4 address, or an IPv6 /64 network. */
  readonly client: string;
}

interface ClientEntry<T> {
  /** Idle connections in the order in which they became idle. The value is the sequence number of that change. */
  readonly idle: Map<T, number>;
  /** Busy connections, likewise in the order in which they became busy. */
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

  /** Records that a connection has become idle or busy: moves it to the end of its client's idle or busy list. */
  touch(connection: T, isBusy: boolean): void {
    const entry = this.#clients.get(connection.client);
    if (entry === undefined || !(entry.idle.has(connection) || entry.busy.has(connection))) return;
    // A busy connection keeps its position when it receives further queries.
    if (isBusy && entry.busy.has(connection)) return;
    entry.idle.delete(connection);
    entry.busy.delete(connection);
    (isBusy ? entry.busy : entry.idle).set(connection, this.#moment++);
  }

  /** Moves a connection that was asked to close to the end of its client's busy list, so that it is asked last. */
  moveToEnd(connection: T): void {
    const busy = this.#clients.get(connection.client)?.busy;
    if (busy?.delete(connection)) busy.set(connection, this.#moment++);
  }

  longestIdleOf(client: string): T | undefined {
    return this.#clients.get(client)?.idle.keys().next().value;
  }

  longestBusyOf(client: string): T | undefined {
    return this.#clients.get(client)?.busy.keys().next().value;
  }

  /**
   * Returns the idle connection that must close in favour of another client. Considers only clients that have an idle
   * connection and more than `moreThan` connections in total. Among the clients with the most connections, selects
   * the connection that has been idle longest.
   */
  longestIdle(moreThan: number): T | undefined {
    return this.#firstOfLargest(({ idle }) => idle, moreThan);
  }

  /** Like `longestIdle`, but for busy connections: selects the one that has been busy longest. */
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
