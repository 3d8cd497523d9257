export interface UnsentLimits {
  /** Bytes of all answers together. */
  readonly maxBytes: number;
  /** Bytes of the answers of one client. */
  readonly maxBytesPerClient: number;
}

/** Asked to take bytes away from others, of one client or of any; it takes what it may, or nothing. */
export type MakeRoom = (bytes: number, client: Client | undefined) => void;

/** What one client has not taken yet. */
export interface Client {
  readonly key: string;
  bytes: number;
  accounts: number;
}

/** Memory that several answers are sent from. */
interface SharedMemory {
  bytes: number;
  holders: number;
}

/**
 * How many bytes answers hold in memory: while they are fetched and made, and until their client has taken the last of
 * them. Memory that several answers are sent from counts once for the server, and for each of its clients. It decides
 * and does no I/O.
 */
export class UnsentBytes {
  readonly limits: UnsentLimits;
  readonly #clients = new Map<string, Client>();
  readonly #shared = new Map<ArrayBufferLike, SharedMemory>();
  readonly #makeRoom: MakeRoom;
  #bytes = 0;
  /** Accounts that hold anything. */
  #holding = 0;

  constructor(limits: UnsentLimits, makeRoom: MakeRoom = () => undefined) {
    this.limits = limits;
    this.#makeRoom = makeRoom;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Clients that are known now: those with an open account. */
  get clients(): number {
    return this.#clients.size;
  }

  /** Whether a client may not begin anything: what it has asked for is to be read first. */
  refuses(key: string): boolean {
    const client = this.#clients.get(key);
    if (client === undefined || client.bytes < this.limits.maxBytesPerClient) return false;
    this.#makeRoom(1, client);
    return client.bytes >= this.limits.maxBytesPerClient;
  }

  /** Whether there is no room for anybody, and none can be made. */
  isFull(): boolean {
    if (this.#bytes < this.limits.maxBytes) return false;
    this.#makeRoom(1, undefined);
    return this.#bytes >= this.limits.maxBytes;
  }

  open(key: string): Account {
    let client = this.#clients.get(key);
    if (client === undefined) {
      client = { key, bytes: 0, accounts: 0 };
      this.#clients.set(key, client);
    }
    client.accounts++;
    return new Account(client, this);
  }

  /** For an account: whether so much more fits, after room was made where it did not. */
  fits(account: Account, bytes: number, serverBytes: number): boolean {
    const { client } = account;
    const { maxBytes, maxBytesPerClient } = this.limits;
    // Whoever holds nothing else may have one answer of any size: what that may be is another limit's business.
    const fitsClient = (): boolean =>
      client.bytes + bytes <= maxBytesPerClient || client.bytes === account.bytes;
    const fitsServer = (): boolean => this.#bytes + serverBytes <= maxBytes || this.#isAlone(account);
    if (!fitsClient()) this.#makeRoom(bytes, client);
    if (!fitsClient()) return false;
    if (!fitsServer()) this.#makeRoom(serverBytes, undefined);
    return fitsServer();
  }

  /** For an account: it has changed from so many bytes, and what the server holds by so many. */
  changed(account: Account, before: number, serverBytes: number): void {
    account.client.bytes += account.bytes - before;
    this.#bytes += serverBytes;
    this.#holding += Number(account.bytes > 0) - Number(before > 0);
  }

  /** For an account: it is over. */
  closed({ client }: Account): void {
    client.accounts--;
    if (client.accounts === 0) this.#clients.delete(client.key);
  }

  /** For an account: how many bytes more the server holds when it holds this memory too. */
  moreWith({ buffer, byteLength }: Uint8Array): number {
    return Math.max(0, byteLength - (this.#shared.get(buffer)?.bytes ?? 0));
  }

  /** For an account: it holds this memory. */
  share(part: Uint8Array): void {
    const known = this.#shared.get(part.buffer) ?? { bytes: 0, holders: 0 };
    known.bytes += this.moreWith(part);
    known.holders++;
    this.#shared.set(part.buffer, known);
  }

  /** For an account: its part of this memory, that of all who hold it being the same. */
  partOf(buffer: ArrayBufferLike): number {
    const known = this.#shared.get(buffer);
    return known === undefined ? 0 : known.bytes / known.holders;
  }

  /** For an account: it holds this memory no more. Returns how many bytes are free by that. */
  unshare(buffer: ArrayBufferLike): number {
    const known = this.#shared.get(buffer);
    if (known === undefined || --known.holders > 0) return 0;
    this.#shared.delete(buffer);
    return known.bytes;
  }

  #isAlone(account: Account): boolean {
    return this.#holding === 0 || (this.#holding === 1 && account.bytes > 0);
  }
}

/** Of smaller pieces it is not looked at whether others are sent from the same memory. */
const MIN_SHARED_BYTES = 64 * 1024;

/** What one answer holds. */
export class Account {
  readonly client: Client;
  readonly #unsent: UnsentBytes;
  readonly #shared: ArrayBufferLike[] = [];
  #sharedBytes = 0;
  #chargedBytes = 0;
  #isClosed = false;

  constructor(client: Client, unsent: UnsentBytes) {
    this.client = client;
    this.#unsent = unsent;
  }

  get bytes(): number {
    return this.#chargedBytes + this.#sharedBytes;
  }

  /** The same, with memory that others hold too divided among them, as in Linux's proportional set size. */
  get proportionalBytes(): number {
    return this.#shared.reduce((sum, buffer) => sum + this.#unsent.partOf(buffer), this.#chargedBytes);
  }

  /** Takes room for so many bytes. Returns false, with none taken, where there is none, or the answer is over. */
  charge(bytes: number): boolean {
    if (this.#isClosed || !this.#unsent.fits(this, bytes, bytes)) return false;
    this.owe(bytes);
    return true;
  }

  /** The same for bytes that are there already, whether there is room or not. */
  owe(bytes: number): void {
    if (this.#isClosed) return;
    const before = this.bytes;
    this.#chargedBytes += bytes;
    this.#unsent.changed(this, before, bytes);
  }

  /** Gives room back that `charge` or `owe` took. */
  credit(bytes: number): void {
    this.owe(-bytes);
  }

  /** Takes room for an answer's bytes until the account is closed. Returns false where there is none. */
  hold(part: Uint8Array): boolean {
    const { length } = part;
    if (length < MIN_SHARED_BYTES) return this.charge(length);
    // Sent from the same memory twice, as in a batch that asks for one thing twice.
    if (this.#shared.includes(part.buffer)) return !this.#isClosed;
    if (this.#isClosed || !this.#unsent.fits(this, length, this.#unsent.moreWith(part))) return false;
    const before = this.bytes;
    const more = this.#unsent.moreWith(part);
    this.#unsent.share(part);
    this.#shared.push(part.buffer);
    this.#sharedBytes += length;
    this.#unsent.changed(this, before, more);
    return true;
  }

  /** All that it holds is given back. */
  empty(): void {
    const before = this.bytes;
    const freed = this.#shared.reduce((sum, buffer) => sum + this.#unsent.unshare(buffer), 0);
    const charged = this.#chargedBytes;
    this.#shared.length = 0;
    this.#sharedBytes = 0;
    this.#chargedBytes = 0;
    this.#unsent.changed(this, before, -freed - charged);
  }

  /** The last byte is taken, or never will be. */
  close(): void {
    if (this.#isClosed) return;
    this.empty();
    this.#isClosed = true;
    this.#unsent.closed(this);
  }
}
