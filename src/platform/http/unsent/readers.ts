import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, Gauge, type Registry } from 'prom-client';
import { clientKey } from '../../addresses/index.ts';
import { type Tally, tallied } from '../../metrics/index.ts';
import { connectionEvent } from '../connectionEvent.ts';
import { Connection } from './connection.ts';
import { type Account, type Client, UnsentBytes, type UnsentLimits } from './unsentBytes.ts';

export interface ReadersOptions extends UnsentLimits {
  /** A client that takes nothing of an answer for this long is cut. */
  readonly sendTimeoutMs: number;
  /** The address whose bytes are counted: that of the client, whatever proxies are between. */
  readonly clientAddress: (request: IncomingMessage) => string;
  readonly metrics: Registry;
  readonly log: { warn(fields: object, message: string): void };
}

/** How fast clients take their answers is looked at this often. */
const SWEEP_MS = 500;
/** Under an attack a line for all that were cut since the last one is enough. */
const LOG_EVERY_MS = 10_000;

/** Why a connection was cut. */
const REASONS = ['timeout', 'memory', 'place'] as const;
type Reason = (typeof REASONS)[number];

/**
 * Watches how clients take their answers. Who takes nothing is cut; who takes too slowly is where the memory or a place is
 * wanted for others, those who hold the most first.
 */
export class Readers {
  readonly unsent: UnsentBytes;
  readonly sendTimeoutMs: number;
  readonly maxBytesPerClient: number;
  readonly #options: ReadersOptions;
  readonly #connections = new Set<Connection>();
  /** Those that take too little, as of the last look at all of them: a flood finds only these to choose from. */
  readonly #slow = new Set<Connection>();
  readonly #cuts: Counter<'reason'>;
  /** Answers by status; a server has few of them. */
  readonly #answers = new Map<number, Tally>();
  readonly #answersOf: (labels: { readonly status: string }) => Tally;
  /** Servers that are watched and not closed. */
  #servers = 0;
  #timer: NodeJS.Timeout | undefined;
  #sweptAtMs = performance.now();
  #loggedAtMs = Number.NEGATIVE_INFINITY;
  #notLogged: Partial<Record<Reason, number>> = {};

  constructor(options: ReadersOptions) {
    this.#options = options;
    this.sendTimeoutMs = options.sendTimeoutMs;
    this.maxBytesPerClient = options.maxBytesPerClient;
    this.unsent = new UnsentBytes(options, (bytes, client) => this.#makeRoom(bytes, client));
    const registers = [options.metrics];
    this.#cuts = new Counter({
      name: 'floodgate_http_connections_cut_total',
      help: 'Connections cut: their client took nothing (timeout), or too little while others wanted memory or a place (memory, place).',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of REASONS) this.#cuts.inc({ reason }, 0);
    this.#answersOf = tallied({
      name: 'floodgate_http_responses_total',
      help: 'Answers over HTTP, by status.',
      labelNames: ['status'],
      registry: options.metrics,
    });
    const { unsent } = this;
    const connections = this.#connections;
    new Gauge({
      name: 'floodgate_http_unsent_bytes',
      help: 'Memory of answers that are being made, or that their clients have not taken.',
      registers,
      collect() {
        this.set(unsent.bytes);
      },
    });
    new Gauge({
      name: 'floodgate_http_connections',
      help: 'Open connections.',
      registers,
      collect() {
        this.set(connections.size);
      },
    });
  }

  /** Watches the connections of a server whose responses are TrackedResponses. */
  watch(server: Server): void {
    server.on(connectionEvent(server), (socket: Socket) => {
      const connection = new Connection(socket, this);
      this.#connections.add(connection);
      socket.on('close', () => {
        this.#connections.delete(connection);
        this.#slow.delete(connection);
        connection.closed();
      });
    });
    if (this.#servers++ === 0) this.#timer = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    server.on('close', () => {
      if (--this.#servers === 0) clearInterval(this.#timer);
    });
  }

  /** Whether the client of a request is to read first what it has asked for. */
  refuses(request: IncomingMessage): boolean {
    // In nearly all cases nobody holds anything.
    if (this.unsent.clients === 0) return false;
    return this.unsent.refuses(this.#keyOf(request));
  }

  /** Whether there is no room for an answer, were it large. */
  isFull(): boolean {
    return this.unsent.isFull();
  }

  /** A place is wanted for others: cuts the slow client that holds the most. */
  givePlace(): void {
    const slow = this.#slowest(undefined);
    if (slow !== undefined) this.#cut(slow, 'place');
  }

  /** For a connection. */
  account(request: IncomingMessage): Account {
    return this.unsent.open(this.#keyOf(request));
  }

  /** For a connection: where there is no room for what it was given, it is the one to go. */
  owes(connection: Connection): void {
    // One answer alone may be of any size, here as where room is taken.
    if (this.unsent.isFull() && connection.heldBytes < this.unsent.bytes) this.#cut(connection, 'memory');
  }

  /** For a connection: counts an answer. */
  answered(status: number): void {
    let tally = this.#answers.get(status);
    if (tally === undefined) {
      tally = this.#answersOf({ status: String(status) });
      this.#answers.set(status, tally);
    }
    tally.inc();
  }

  #keyOf(request: IncomingMessage): string {
    return clientKey(this.#options.clientAddress(request));
  }

  #sweep(): void {
    const nowMs = performance.now();
    // A turn of the event loop that took long is none of the clients' doing: nothing was sent in it.
    const elapsedMs = Math.min(nowMs - this.#sweptAtMs, 2 * SWEEP_MS);
    this.#sweptAtMs = nowMs;
    for (const connection of this.#connections) {
      connection.passed(elapsedMs);
      const { pace } = connection;
      if (pace?.isStalled === true) this.#cut(connection, 'timeout');
      else if (pace?.isSlow === true) this.#slow.add(connection);
      else this.#slow.delete(connection);
    }
  }

  #makeRoom(bytes: number, client: Client | undefined): void {
    const { maxBytes, maxBytesPerClient } = this.#options;
    const lacks = (): boolean =>
      client === undefined ? this.unsent.bytes + bytes > maxBytes : client.bytes + bytes > maxBytesPerClient;
    while (lacks()) {
      const slow = this.#slowest(client);
      if (slow === undefined) return;
      this.#cut(slow, 'memory');
    }
  }

  /**
   * Of the clients that take too little the one that holds the most, of a client or of all: memory that many hold is free
   * only when all of them are cut.
   */
  #slowest(client: Client | undefined): Connection | undefined {
    let slowest: Connection | undefined;
    let most = -1;
    for (const connection of this.#slow) {
      const bytes = client === undefined ? connection.proportionalBytes : connection.heldBytesOf(client);
      if (bytes <= most || (client !== undefined && bytes === 0)) continue;
      slowest = connection;
      most = bytes;
    }
    return slowest;
  }

  #cut(connection: Connection, reason: Reason): void {
    const address = connection.remoteAddress;
    const heldBytes = connection.heldBytes;
    this.#connections.delete(connection);
    this.#slow.delete(connection);
    connection.cut();
    this.#cuts.inc({ reason });
    this.#notLogged[reason] = (this.#notLogged[reason] ?? 0) + 1;
    const nowMs = performance.now();
    if (nowMs - this.#loggedAtMs < LOG_EVERY_MS) return;
    this.#loggedAtMs = nowMs;
    this.#options.log.warn(
      { cut: this.#notLogged, last: { address, heldBytes }, unsentBytes: this.unsent.bytes },
      'connections were cut whose clients do not read their answers',
    );
    this.#notLogged = {};
  }
}
