import { type Entry, LinkedList } from '../../linkedList/index.ts';

/** Use of a connection: none, requests that are not answered yet, or subscriptions. */
export type ConnectionUse = 'idle' | 'busy' | 'live';

/** The connections of one client address. Each list is in the order in which the connections began this use. */
class Client {
  readonly idle = new LinkedList<HeldConnection>();
  readonly busy = new LinkedList<HeldConnection>();
  readonly live = new LinkedList<HeldConnection>();
  size = 0;
}

/** An open connection that counts for a client. */
export class HeldConnection {
  readonly address: string;
  readonly close: () => void;
  readonly #client: Client;
  #use: ConnectionUse = 'idle';
  #entry: Entry<HeldConnection>;

  constructor(address: string, client: Client, close: () => void) {
    this.address = address;
    this.close = close;
    this.#client = client;
    this.#entry = client.idle.append(this);
  }

  get use(): ConnectionUse {
    return this.#use;
  }

  set use(use: ConnectionUse) {
    // A removed connection is in no list, and must not get into one.
    if (use === this.#use || !this.leave()) return;
    this.#use = use;
    this.#entry = this.#client[use].append(this);
  }

  /** Removes the connection from its client's lists. Returns false if it was removed before. */
  leave(): boolean {
    return this.#client[this.#use].remove(this.#entry);
  }
}

/** Open connections by client address. Selects the connection that closes if there are too many. */
export class ConnectionTable {
  readonly #clients = new Map<string, Client>();
  /** Clients by their number of connections. */
  readonly #bySize = new Map<number, Set<Client>>();
  #largest = 0;

  add(address: string, close: () => void): HeldConnection {
    const client = this.#clients.get(address) ?? new Client();
    this.#clients.set(address, client);
    this.#resize(client, client.size + 1);
    return new HeldConnection(address, client, close);
  }

  /** Returns false if the connection was removed before. */
  remove(connection: HeldConnection): boolean {
    const client = this.#clients.get(connection.address);
    if (client === undefined || !connection.leave()) return false;
    this.#resize(client, client.size - 1);
    if (client.size === 0) this.#clients.delete(connection.address);
    return true;
  }

  /** Returns the connection of a client that has been idle longest. */
  longestIdleOf(address: string): HeldConnection | undefined {
    return this.#clients.get(address)?.idle.first;
  }

  /**
   * Returns the connection that closes in favour of a new one of this address: an idle one of the largest client that
   * has any, or else one of the largest client in any use, one with subscriptions last. Clients with as few connections
   * as this address lose none, so that a flood cannot close a connection whose first request is still on its way.
   */
  replaceableFor(address: string): HeldConnection | undefined {
    const own = this.#clients.get(address)?.size ?? 0;
    for (const { idle, size } of this.#largestFirst()) {
      if (size <= own) break;
      if (!idle.isEmpty) return idle.first;
    }
    const [largest] = this.#largestFirst();
    // The largest client then still has at least as many connections as this address.
    if (largest !== undefined && largest.size >= own + 2) return largest.busy.first ?? largest.live.first;
    return this.longestIdleOf(address);
  }

  *#largestFirst(): Iterable<Client> {
    for (let size = this.#largest; size > 0; size--) yield* this.#bySize.get(size) ?? [];
  }

  #resize(client: Client, size: number): void {
    const before = this.#bySize.get(client.size);
    before?.delete(client);
    if (before?.size === 0) this.#bySize.delete(client.size);
    client.size = size;
    if (size > 0) this.#bySize.set(size, (this.#bySize.get(size) ?? new Set()).add(client));
    this.#largest = Math.max(this.#largest, size);
    while (this.#largest > 0 && !this.#bySize.has(this.#largest)) this.#largest--;
  }
}
