import type { IncomingMessage } from 'node:http';
import { Counter, type Registry } from 'prom-client';
import { clientKey } from '../../addresses/index.ts';
import { Budget, type BudgetClient, type BudgetLimits } from '../../budgets/index.ts';
import { gaugesOf } from '../../metrics/index.ts';

const KIB = 1024;
const MIB = KIB * KIB;
/** Estimated memory of an empty message: connection, parser and objects. */
const MESSAGE_BYTES = 16 * KIB;
const LIMITS: BudgetLimits = { perClient: 16 * MIB, total: 128 * MIB };
/** Messages younger than this are not evicted, because their transfer rate is not known yet. */
const MIN_AGE_MS = 1_000;
const MS_PER_SECOND = 1_000;
/** Minimum time between log lines. A line for each closed connection would let an attacker fill the log. */
const LOG_EVERY_MS = 10_000;

export interface UnfinishedMessagesOptions {
  readonly processes?: number;
  readonly limits?: BudgetLimits;
  /** Returns the client address of a request, considering trusted proxies. */
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly metrics: Registry;
  readonly log: { warn(fields: object, message: string): void };
  readonly nowMs?: () => number;
}

/**
 * Bounds the memory of incomplete messages: HTTP requests and WebSocket messages. Each counts as 16 KiB plus its
 * bytes. Messages of a client above its limit are rejected. If the total is exceeded, the slowest messages are
 * closed. If a client has only one message, that message may have any size up to `gateway.maxBodyBytes`.
 */
export class UnfinishedMessages {
  readonly #options: UnfinishedMessagesOptions;
  readonly #nowMs: () => number;
  readonly #budget: Budget;
  readonly #messages = new Set<UnfinishedMessage>();
  readonly #closed: Counter<'reason'>;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: UnfinishedMessagesOptions) {
    const { processes = 1, limits = LIMITS, metrics, nowMs = () => performance.now() } = options;
    this.#options = options;
    this.#nowMs = nowMs;
    this.#budget = new Budget({ perClient: limits.perClient / processes, total: limits.total / processes });
    this.#closed = new Counter({
      name: 'floodgate_http_unfinished_closed_total',
      help: 'Incomplete requests and WebSocket messages that were closed: above the limit of their client (client), or the slowest while the total limit was reached (slowest).',
      labelNames: ['reason'],
      registers: [metrics],
    });
    for (const reason of ['client', 'slowest']) this.#closed.inc({ reason }, 0);
    const help = 'Memory of incomplete requests and WebSocket messages.';
    gaugesOf(metrics)('floodgate_http_unfinished_bytes', help, () => this.#budget.total);
  }

  /**
   * Registers an incomplete message of which `bytes` have arrived. `evict` must close its connection at once. Returns
   * undefined, and counts nothing, if a limit would be exceeded.
   */
  begin(request: IncomingMessage, bytes: number, evict: () => void): UnfinishedMessage | undefined {
    const client = { address: clientKey(this.#options.clientAddress(request)) };
    const message = new UnfinishedMessage(this, { client, startedAtMs: this.#nowMs(), evict });
    this.#messages.add(message);
    if (this.charge(message, MESSAGE_BYTES + bytes)) return message;
    this.ended(message);
    return undefined;
  }

  /** Counts more bytes of a message. Returns false, and counts nothing, if a limit would be exceeded. */
  charge(message: UnfinishedMessage, bytes: number): boolean {
    const budget = this.#budget;
    const { client } = message;
    if (!this.#messages.has(message)) return false;
    const { total } = budget.limits;
    if (budget.exceededBy(client, bytes) === 'perClient' && budget.usedBy(client) > message.bytes)
      return this.#reject();
    while (budget.total + bytes > total && budget.total > message.bytes) {
      const slowest = this.#slowest();
      if (slowest === undefined) return this.#reject();
      this.#evict(slowest);
      if (slowest === message) return false;
    }
    budget.charge(client, bytes);
    message.bytes += bytes;
    return true;
  }

  /** Releases the memory of a message's bytes, which were discarded. */
  dropped(message: UnfinishedMessage): void {
    if (!this.#messages.has(message)) return;
    this.#budget.release(message.client, message.bytes - MESSAGE_BYTES);
    message.bytes = MESSAGE_BYTES;
  }

  ended(message: UnfinishedMessage): void {
    if (this.#messages.delete(message)) this.#budget.release(message.client, message.bytes);
  }

  #reject(): false {
    this.#count('client');
    return false;
  }

  #evict(message: UnfinishedMessage): void {
    this.ended(message);
    this.#count('slowest');
    message.evict();
  }

  #slowest(): UnfinishedMessage | undefined {
    const nowMs = this.#nowMs();
    let slowest: UnfinishedMessage | undefined;
    let lowest = Number.POSITIVE_INFINITY;
    for (const message of this.#messages) {
      const ageMs = nowMs - message.startedAtMs;
      if (ageMs < MIN_AGE_MS) continue;
      const bytesPerSecond = ((message.bytes - MESSAGE_BYTES) * MS_PER_SECOND) / ageMs;
      if (bytesPerSecond >= lowest) continue;
      slowest = message;
      lowest = bytesPerSecond;
    }
    return slowest;
  }

  #count(reason: 'client' | 'slowest'): void {
    this.#closed.inc({ reason });
    const nowMs = this.#nowMs();
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = nowMs;
    this.#options.log.warn(
      { reason, unfinished: this.#messages.size, unfinishedBytes: this.#budget.total },
      'closing unfinished requests: memory limit reached',
    );
  }
}

export class UnfinishedMessage {
  readonly client: BudgetClient;
  readonly startedAtMs: number;
  readonly evict: () => void;
  bytes = 0;
  readonly #all: UnfinishedMessages;
  #isDropped = false;

  constructor(
    all: UnfinishedMessages,
    { client, startedAtMs, evict }: Pick<UnfinishedMessage, 'client' | 'startedAtMs' | 'evict'>,
  ) {
    this.#all = all;
    this.client = client;
    this.startedAtMs = startedAtMs;
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
    this.#isDropped = true;
    this.#all.dropped(this);
  }

  /** Must be called when the message is complete or its connection closed. */
  end(): void {
    this.#all.ended(this);
  }
}
