import type { IncomingMessage } from 'node:http';
import { Counter, type Registry } from 'prom-client';
import type { ClientAddress } from '../../addresses/index.ts';
import { Budget, type BudgetClient, type BudgetLimits, Slots } from '../../budgets/index.ts';
import { type Entry, LinkedList } from '../../linkedList/index.ts';
import { RareLog, type WarningLog } from '../../logging/index.ts';
import { gaugesOf } from '../../metrics/index.ts';
import { clientOf } from './countedRequest.ts';

const KIB = 1024;
const MIB = KIB * KIB;
/** Estimated memory of an empty message: connection, parser and objects. */
const MESSAGE_BYTES = 16 * KIB;
/** The share of a client shrinks from 16 MiB to 1 MiB, which is 64 messages. */
const LIMITS: BudgetLimits = { perClient: 16 * MIB, total: 128 * MIB, partOfFree: 1 / 8, minShare: MIB };
/** Maximum number of bodies of one client that are read or handled at the same time. */
const MAX_BODIES = 4;

export interface UnfinishedMessagesOptions {
  readonly processes?: number;
  readonly limits?: BudgetLimits;
  /** Returns the client address of a request, considering trusted proxies. */
  readonly clientAddress: ClientAddress;
  readonly metrics: Registry;
  readonly log: WarningLog;
}

/**
 * Bounds the memory of incomplete messages: HTTP requests and WebSocket messages. Each counts as 16 KiB plus its
 * bytes. Messages of a client above its share are rejected. If the total is exceeded, the oldest messages of the
 * client that uses most are closed. If a client has only one message, that message may have any size up to
 * `gateway.maxBodyBytes`.
 */
export class UnfinishedMessages {
  readonly slots = new Slots({ perClient: MAX_BODIES, total: Number.POSITIVE_INFINITY });
  readonly #options: UnfinishedMessagesOptions;
  readonly #budget: Budget;
  /** Messages of each client, oldest first. */
  readonly #messages = new Map<string, LinkedList<UnfinishedMessage>>();
  readonly #closed: Counter<'reason'>;
  readonly #log: RareLog;

  constructor(options: UnfinishedMessagesOptions) {
    const { processes = 1, limits = LIMITS, metrics } = options;
    const { perClient, total, minShare = 0 } = limits;
    this.#options = options;
    this.#log = new RareLog(options.log);
    this.#budget = new Budget({
      ...limits,
      perClient: perClient / processes,
      total: total / processes,
      minShare: minShare / processes,
    });
    this.#closed = new Counter({
      name: 'floodgate_http_unfinished_closed_total',
      help: 'Incomplete requests and WebSocket messages that were closed: above the share of their client (client), or of the client with the largest use while the total limit was reached (largest).',
      labelNames: ['reason'],
      registers: [metrics],
    });
    for (const reason of ['client', 'largest']) this.#closed.inc({ reason }, 0);
    const help = 'Memory of incomplete requests and WebSocket messages.';
    gaugesOf(metrics)('floodgate_http_unfinished_bytes', help, () => this.#budget.total);
  }

  /**
   * Registers an incomplete message of which `bytes` have arrived. `evict` must close its connection at once. Returns
   * undefined, and counts nothing, if a limit would be exceeded.
   */
  begin(request: IncomingMessage, bytes: number, evict: () => void): UnfinishedMessage | undefined {
    const message = new UnfinishedMessage(this, clientOf(request, this.#options.clientAddress), evict);
    const name = nameOf(message);
    const messages = this.#messages.get(name) ?? new LinkedList();
    this.#messages.set(name, messages);
    message.entry = messages.append(message);
    if (this.charge(message, MESSAGE_BYTES + bytes)) return message;
    this.ended(message);
    return undefined;
  }

  /** Counts more bytes of a message. Returns false, and counts nothing, if a limit would be exceeded. */
  charge(message: UnfinishedMessage, bytes: number): boolean {
    const budget = this.#budget;
    const { client } = message;
    if (message.entry === undefined) return false;
    if (budget.exceededBy(client, bytes) === 'perClient' && budget.usedBy(client) > message.bytes) {
      this.#count('client');
      return false;
    }
    while (budget.total + bytes > budget.limits.total && budget.total > message.bytes) {
      const oldest = this.#oldestOfLargest();
      if (oldest === undefined) break;
      this.ended(oldest);
      this.#count('largest');
      oldest.evict();
      if (oldest === message) return false;
    }
    budget.charge(client, bytes);
    message.bytes += bytes;
    return true;
  }

  /** Releases the memory of a message's bytes, which were discarded. */
  dropped(message: UnfinishedMessage): void {
    if (message.entry === undefined) return;
    this.#budget.release(message.client, message.bytes - MESSAGE_BYTES);
    message.bytes = MESSAGE_BYTES;
  }

  ended(message: UnfinishedMessage): void {
    const { entry } = message;
    if (entry === undefined) return;
    message.entry = undefined;
    const name = nameOf(message);
    const messages = this.#messages.get(name);
    messages?.remove(entry);
    if (messages?.isEmpty === true) this.#messages.delete(name);
    this.#budget.release(message.client, message.bytes);
  }

  #oldestOfLargest(): UnfinishedMessage | undefined {
    let found: UnfinishedMessage | undefined;
    let largest = 0;
    for (const { first: oldest } of this.#messages.values()) {
      const weight = oldest === undefined ? 0 : this.#budget.weightOf(oldest.client);
      if (weight <= largest) continue;
      largest = weight;
      found = oldest;
    }
    return found;
  }

  #count(reason: 'client' | 'largest'): void {
    this.#closed.inc({ reason });
    this.#log.warn(
      { reason, clients: this.#messages.size, unfinishedBytes: this.#budget.total },
      'closing unfinished requests: memory limit reached',
    );
  }
}

export class UnfinishedMessage {
  readonly client: BudgetClient;
  readonly evict: () => void;
  bytes = 0;
  /** The place among the messages of its client; undefined before it began and after it ended. */
  entry: Entry<UnfinishedMessage> | undefined;
  readonly #all: UnfinishedMessages;
  #isDropped = false;

  constructor(all: UnfinishedMessages, client: BudgetClient, evict: () => void) {
    this.#all = all;
    this.client = client;
    this.evict = evict;
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** Counts received bytes of the message. Returns false if a limit is exceeded and the message must be rejected. */
  received(bytes: number): boolean {
    return this.#all.charge(this, bytes);
  }

  /** Called if the message is rejected. Its bytes are discarded; only the memory of its connection stays charged. */
  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#all.dropped(this);
  }

  /** Must be called when the message is complete or its connection closed. */
  end(): void {
    this.#all.ended(this);
  }
}

const nameOf = ({ client: { address, keyId = '' } }: UnfinishedMessage): string => `${address} ${keyId}`;
