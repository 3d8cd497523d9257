/** DNS over TCP: the connections of all listening addresses, which share their places, and their places at the servers behind. */
import { createServer, type Server, type ServerOpts, type Socket } from 'node:net';
import { clientKey } from '../../../platform/addresses/index.ts';
import { FIRST_REFUSAL, type Verdict } from '../../detector/index.ts';
import type { HashKey, Question } from '../../protocol/index.ts';
import type { DnsServer, PacketFaults } from '../index.ts';
import { ConnectionTable } from './connectionTable.ts';
import { ServerPlaces } from './serverPlaces.ts';
import { admit } from './tcpAdmission.ts';
import { MAX_UNSENT_BYTES, TcpConnection, type TcpShared } from './tcpConnection.ts';
import { type CloseReason, TcpCounts } from './tcpCounts.ts';

/** Hears the head of each answer over TCP, and the address of whoever asked. */
export type OnTcpAnswer = (head: Uint8Array, address: string) => void;

/** How exactly the limits of time are kept. */
const SWEEP_MS = 250;
/** Half of the places at the servers: queries always find some, however many secondaries come at once. */
const MAX_TRANSFERS = 24;

export interface TcpRelayOptions {
  /** The servers behind, in the order in which a connection tries them. */
  readonly servers: () => readonly DnsServer[];
  /** Whether a connection to this server may stay. */
  readonly isInUse: (server: DnsServer) => boolean;
  readonly onAnswer: OnTcpAnswer;
  /** Whether a client at this address may transfer zones. */
  readonly mayTransfer: (address: string) => boolean;
  /** Under which names are hashed. */
  readonly key: HashKey;
  /** Decides about a query of this connection. */
  readonly decide: (question: Question, connection: TcpConnection) => Verdict;
  /** Queries of one connection, after which it ends. */
  readonly maxQueries: number;
  readonly faults: PacketFaults;
}

export class TcpRelay {
  readonly counts = new TcpCounts();
  readonly #options: TcpRelayOptions;
  readonly #table = new ConnectionTable<TcpConnection>();
  readonly #places = new ServerPlaces<TcpConnection>();
  readonly #transfers = new Set<TcpConnection>();
  readonly #sweeps: NodeJS.Timeout;
  readonly #shared: TcpShared;
  #clockMs = 0;
  #closed = false;

  constructor(options: TcpRelayOptions) {
    this.#options = options;
    this.#shared = this.#makeShared();
    this.#sweeps = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeps.unref();
  }

  /** A server whose connections are relayed; it has yet to listen. */
  createServer(): Server {
    // Newer than the types of the oldest Node that this runs on, which ignores it.
    const options: ServerOpts & { highWaterMark: number } = {
      noDelay: true,
      allowHalfOpen: true,
      highWaterMark: MAX_UNSENT_BYTES,
    };
    return createServer(options, (socket) => this.#accept(socket));
  }

  get connections(): number {
    return this.#table.size;
  }

  /** Connections to the servers behind. */
  get serverConnections(): number {
    return this.#places.taken;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#sweeps);
    for (const connection of [...this.#table.all()]) connection.reset('stop');
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const client = clientKey(address);
    const admission = admit(this.#table, client);
    if (this.#closed || !admission.admitted) {
      this.counts.closed[this.#closed ? 'stop' : 'no_place']++;
      socket.on('error', () => {});
      socket.resetAndDestroy();
      return;
    }
    this.counts.accepted++;
    const { givesWay } = admission;
    if (givesWay?.isBusy) this.#table.postpone(givesWay);
    else if (givesWay !== undefined) this.#table.remove(givesWay);
    givesWay?.giveWay();
    this.#table.add(new TcpConnection({ socket, address, client }, this.#shared));
  }

  #sweep(): void {
    this.#clockMs += SWEEP_MS;
    for (const connection of [...this.#table.all()]) connection.endOverdue();
  }

  #makeShared(): TcpShared {
    const relay = this;
    const { servers, isInUse, onAnswer, faults, key, maxQueries } = this.#options;
    return {
      get clockMs() {
        return relay.#clockMs;
      },
      counts: this.counts,
      serverPlaces: this.#places,
      key,
      maxQueries,
      servers,
      isInUse,
      onAnswer,
      passes: (question, connection) => this.#passes(question, connection),
      beginTransfer: (connection) => this.#beginTransfer(connection),
      note: (connection, isBusy) => this.#table.note(connection, isBusy),
      closed: (connection, reason) => this.#gone(connection, reason),
      failed: (error) => faults.note(error, Date.now()),
    };
  }

  #passes(question: Question, connection: TcpConnection): boolean {
    const verdict = this.#options.decide(question, connection);
    this.counts.queries[verdict] = (this.counts.queries[verdict] ?? 0) + 1;
    return verdict < FIRST_REFUSAL;
  }

  #beginTransfer(connection: TcpConnection): boolean {
    const isAllowed =
      this.#options.mayTransfer(connection.address) &&
      (this.#transfers.has(connection) || this.#transfers.size < MAX_TRANSFERS);
    this.counts.transfers[isAllowed ? 'allowed' : 'refused']++;
    if (isAllowed) this.#transfers.add(connection);
    return isAllowed;
  }

  #gone(connection: TcpConnection, reason: CloseReason): void {
    this.#table.remove(connection);
    this.#transfers.delete(connection);
    this.counts.closed[reason]++;
  }
}
