import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, type Registry } from 'prom-client';
import type { ClientAddress } from '../../addresses/index.ts';
import { Budget, type BudgetBound, type BudgetClient } from '../../budgets/index.ts';
import { LinkedList } from '../../linkedList/index.ts';
import { RareLog, type WarningLog } from '../../logging/index.ts';
import { gaugesOf } from '../../metrics/index.ts';
import { resetConnection } from '../../sockets/index.ts';
import { Connections } from '../connection.ts';
import { connectionEvent } from '../connectionEvent.ts';
import { clientOf } from '../unfinished/countedRequest.ts';
import { Pace, sentBytesOf } from './pace.ts';

export interface ReadersOptions {
  /** Maximum memory of all responses in bytes. One client may use half of it, and at most as much as it leaves free. */
  readonly maxBytes: number;
  /** Clients that receive nothing for this time are disconnected. */
  readonly sendTimeoutMs: number;
  readonly clientAddress: ClientAddress;
  readonly metrics: Registry;
  readonly log: WarningLog;
}

const SWEEP_MS = 500;
/** If more than this share of a budget is used, slow connections are closed, so that other responses fit. */
const PRESSURE = 1 / 2;
/** Bytes that wait in a socket count only above this number, so that nearly all responses need no accounting. */
const FREE_BYTES = 16 * 1024;

const REASONS = ['timeout', 'memory', 'requests'] as const;
type Reason = (typeof REASONS)[number];

/** Bounds the memory of responses that clients have not received. Closes connections of clients that do not read. */
export class Readers {
  readonly budget: Budget;
  readonly clientOf: (request: IncomingMessage) => BudgetClient;
  readonly #sendTimeoutMs: number;
  readonly #log: RareLog;
  readonly #readers = new LinkedList<Reader>();
  readonly #connections: Connections;
  readonly #cuts: Counter<'reason'>;
  /**
   * Addresses of clients for whose last response no memory was free. Their requests are refused until the next sweep,
   * so that they cannot make the server write one response after the other that is then discarded.
   */
  readonly #full = new Set<string>();
  #wantedConnections = 0;
  #sweptAtMs = performance.now();

  constructor(options: ReadersOptions) {
    const { maxBytes, clientAddress, metrics } = options;
    this.#sendTimeoutMs = options.sendTimeoutMs;
    this.#log = new RareLog(options.log);
    this.clientOf = (request) => clientOf(request, clientAddress);
    const limits = { total: maxBytes, perClient: maxBytes / 2, partOfFree: 1, minShare: maxBytes / 16 };
    this.budget = new Budget(limits);
    this.#connections = new Connections(metrics);
    this.#cuts = new Counter({
      name: 'floodgate_http_connections_closed_total',
      help: 'Connections closed because the client received nothing (timeout), or too little while memory or places were scarce (memory, place).',
      labelNames: ['reason'],
      registers: [metrics],
    });
    for (const reason of REASONS) this.#cuts.inc({ reason }, 0);
    const unsent = 'Memory of answers that are being made or that clients have not received.';
    gaugesOf(metrics)('floodgate_http_unsent_bytes', unsent, () => this.budget.total);
  }

  /** Starts to watch the connections of a server. Its responses must be TrackedResponses. */
  watch(server: Server): void {
    this.#connections.watch(server);
    const timer = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    server.on('close', () => clearInterval(timer));
    server.on(connectionEvent(server), (socket: Socket) => {
      const reader = new Reader(socket, this);
      const entry = this.#readers.append(reader);
      socket.on('close', () => {
        this.#readers.remove(entry);
        reader.release();
      });
    });
  }

  /** Returns which memory limit is exhausted, that of the client or the total; undefined if none is. */
  exceeded(request: IncomingMessage): BudgetBound | undefined {
    // Usually no memory is in use, so the client need not be determined.
    if (this.budget.total === 0) return undefined;
    const client = this.clientOf(request);
    return this.#full.has(client.address) ? 'perClient' : this.budget.exceededBy(client, 1);
  }

  /** Makes `exceeded` report the client until the next sweep. */
  noteFull({ address }: BudgetClient): void {
    this.#full.add(address);
  }

  /** Makes the next sweep close a slow connection, because a resource other than memory is exhausted. */
  freeConnection(): void {
    this.#wantedConnections++;
  }

  /** Closes a connection with a reset, if it can be reset, so that the system frees its buffers. */
  cut(reader: Reader, reason: Reason): void {
    const { bytes, socket } = reader;
    const { remoteAddress: address } = socket;
    resetConnection(socket);
    reader.release();
    this.#cuts.inc({ reason });
    this.#log.warn(
      { reason, address, bytes, unsentBytes: this.budget.total },
      'connections are closed whose clients do not read their answers',
    );
  }

  #sweep(): void {
    this.#full.clear();
    const nowMs = performance.now();
    // While the event loop was blocked, nothing could be sent. Most of that time must not count against the clients.
    const elapsedMs = Math.min(nowMs - this.#sweptAtMs, 2 * SWEEP_MS);
    this.#sweptAtMs = nowMs;
    const slow: Reader[] = [];
    for (const reader of this.#readers.values()) {
      if (reader.socket.destroyed) continue;
      const pace = reader.measure(elapsedMs, this.#sendTimeoutMs);
      if (pace?.isStalled === true) this.cut(reader, 'timeout');
      else if (pace?.isSlow === true) slow.push(reader);
    }
    // The client with the largest use is first.
    for (const reader of slow.sort((a, b) => b.weight - a.weight || b.bytes - a.bytes)) {
      if (this.#wantedConnections-- > 0) this.cut(reader, 'requests');
      else if (reader.exceeds('perClient', 0, PRESSURE) || reader.exceeds('total', 0, PRESSURE))
        this.cut(reader, 'memory');
    }
    this.#wantedConnections = 0;
  }
}

/** Measures, for one connection, the memory of its responses and how fast the client receives them. */
export class Reader {
  readonly socket: Socket;
  /** Memory of the connection's responses: one over HTTP, several over a WebSocket. */
  bytes = 0;
  /** Bytes of messages that wait until the socket has sent others. */
  queuedBytes = 0;
  readonly readers: Readers;
  /** The client whose budget is charged. On a proxy's connection, it is the client of the current response. */
  #client: BudgetClient = { address: '' };
  /** Part of `bytes` that waits in the socket or for it, and for which `charge` was not called. */
  #unchargedBytes = 0;
  /** Measures how fast the client receives; undefined if nothing waits for the client. */
  #pace: Pace | undefined;

  constructor(socket: ReadSocket, readers: Readers) {
    this.socket = socket;
    this.readers = readers;
    socket[READER] = this;
  }

  /** Use of the connection's client, of all its connections. */
  get weight(): number {
    return this.readers.budget.weightOf(this.#client);
  }

  /** Counts memory of a response. Returns false, and counts nothing, if the bytes exceed a budget. */
  charge(request: IncomingMessage, bytes: number): boolean {
    if (!this.#isOpenFor(request)) return false;
    const isFull = this.exceeds('perClient', bytes);
    if (isFull) this.readers.noteFull(this.#client);
    if (isFull || this.exceeds('total', bytes)) return false;
    this.#add(bytes);
    return true;
  }

  credit(bytes: number): void {
    if (!this.socket.destroyed) this.#add(-bytes);
  }

  /** Counts the bytes that wait in the socket or for it. Closes the connection if they exceed a budget. */
  wrote(request: IncomingMessage): void {
    if (this.#waitingBytes <= FREE_BYTES || !this.#isOpenFor(request)) return;
    this.#countWaiting();
    if (this.exceeds('total', 0)) this.readers.cut(this, 'memory');
  }

  release(): void {
    this.#unchargedBytes = 0;
    this.#add(-this.bytes);
  }

  /**
   * Whether `bytes` more would exceed a share of a budget. False if only this connection uses the budget, because a
   * single response has other limits.
   */
  exceeds(bound: BudgetBound, bytes: number, share = 1): boolean {
    const { budget } = this.readers;
    const [used, limit] =
      bound === 'total' ? [budget.total, budget.limits.total] : [this.weight, budget.share];
    return used > this.bytes && used + bytes > share * limit;
  }

  /** Returns how fast the client receives, after another `elapsedMs`; undefined if nothing waits for the client. */
  measure(elapsedMs: number, sendTimeoutMs: number): Pace | undefined {
    this.#countWaiting();
    if (this.socket.writableLength === 0) this.#pace = undefined;
    else if (this.#pace === undefined) this.#pace = new Pace(sendTimeoutMs, sentBytesOf(this.socket));
    else this.#pace.passed(elapsedMs, sentBytesOf(this.socket));
    return this.#pace;
  }

  #isOpenFor(request: IncomingMessage): boolean {
    if (this.bytes === 0) this.#client = this.readers.clientOf(request);
    return !this.socket.destroyed;
  }

  get #waitingBytes(): number {
    return this.socket.writableLength + this.queuedBytes;
  }

  #countWaiting(): void {
    const chargedBytes = this.bytes - this.#unchargedBytes;
    const bytes = Math.max(0, this.#waitingBytes - FREE_BYTES - chargedBytes);
    this.#add(bytes - this.#unchargedBytes);
    this.#unchargedBytes = bytes;
  }

  #add(bytes: number): void {
    this.bytes += bytes;
    if (bytes !== 0) this.readers.budget.charge(this.#client, bytes);
  }
}

const READER = Symbol('reader');
// A WeakMap would keep closed sockets, with their last requests, in memory until the next full garbage collection.
type ReadSocket = Socket & { [READER]?: Reader };

/** Returns the reader of a socket; undefined if `Readers` does not watch the socket's server. */
export const readerOf = (socket: ReadSocket): Reader | undefined => socket[READER];
