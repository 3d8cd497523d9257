/** Connections of clients over TCP. They share the limits on connections from clients and to DNS servers. */
import { createServer, type Server, type ServerOpts, type Socket } from 'node:net';
import { clientKey } from '../../../../platform/addresses/index.ts';
import type { Scheduler } from '../../../../platform/scheduler/index.ts';
import { resetConnection } from '../../../../platform/sockets/index.ts';
import { FIRST_NOT_FORWARDED, reasonOf, UserEnd, type Verdict } from '../../../detector/index.ts';
import { type HashKey, Question, readAnswer } from '../../../protocol/index.ts';
import { type DnsServer, type PacketFaults, PendingUserQueries } from '../../index.ts';
import { LocalResponse } from '../localResponses.ts';
import { ServfailLimit } from '../servfailLimit.ts';
import { ClientPace } from './clientPace.ts';
import { ConnectionTable } from './connectionTable.ts';
import { ServerSlots } from './serverSlots.ts';
import { admit, type SlotLimits } from './tcpAdmission.ts';
import { MAX_PIPELINED, MAX_UNSENT_BYTES, TcpConnection, type TcpShared } from './tcpConnection.ts';
import { type CloseReason, TcpCounts } from './tcpCounts.ts';

/** Receives the first bytes of each answer from a DNS server, the question, and the address of the client. */
export type OnTcpAnswer = (head: Uint8Array, question: Question, address: string) => void;

export interface TcpDecision {
  readonly verdict: Verdict;
  /** Value of `QueryPolicy.userZone` for this query. */
  readonly userZone: number;
  /** Whether an access list decided by the name, and not by the client's network. */
  readonly isNameListed: boolean;
}

const SWEEP_MS = 250;
/**
 * Maximum number of concurrent zone transfers: half of the connections to the DNS servers. The other half remains for
 * queries.
 */
const MAX_TRANSFERS = 24;
/**
 * When a client closes its connection, a pending query counts as unanswered only if it is at least this old. Equal to
 * the default answer timeout over UDP.
 */
const LEAST_WAIT_MS = 2000;

export interface TcpConnectionsOptions {
  readonly servers: () => readonly DnsServer[];
  readonly isInUse: (server: DnsServer) => boolean;
  readonly isAnyInUse: () => boolean;
  readonly onAnswer: OnTcpAnswer;
  readonly mayTransfer: (address: string) => boolean;
  readonly key: HashKey;
  readonly decide: (question: Question, connection: TcpConnection) => TcpDecision;
  /** See `QueryPolicy.countUser`. */
  readonly countUser: (userZone: number, end: UserEnd) => void;
  /** Number of queries after which a client's connection is closed. */
  readonly maxQueries: number;
  readonly faults: PacketFaults;
  readonly scheduler: Scheduler;
  /** Limits of connections from clients. Default: those of {@link admit}. */
  readonly slots?: SlotLimits;
}

export class TcpConnections {
  readonly counts = new TcpCounts();
  readonly #options: TcpConnectionsOptions;
  readonly #table = new ConnectionTable<TcpConnection>();
  readonly #servfails = new ServfailLimit();
  readonly #serverSlots = new ServerSlots<TcpConnection>();
  readonly #transfers = new Set<TcpConnection>();
  readonly #sweeps: NodeJS.Timeout;
  readonly #pace: ClientPace;
  readonly #shared: TcpShared;
  readonly #question = new Question();
  #clockMs = 0;
  #closed = false;

  constructor(options: TcpConnectionsOptions) {
    this.#options = options;
    this.#pace = new ClientPace(options.scheduler);
    this.#shared = this.#makeShared();
    this.#sweeps = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeps.unref();
  }

  createServer(): Server {
    // The type definitions of the oldest supported Node version lack `highWaterMark`. That version ignores the
    // option.
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

  /** Number of SERVFAIL answers of the guard itself. */
  get servfails(): number {
    return this.#servfails.sent;
  }

  get serverConnections(): number {
    return this.#serverSlots.used;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#sweeps);
    for (const connection of [...this.#table.all()]) connection.reset('stop');
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const client = clientKey(address);
    const admission = admit(this.#table, client, this.#options.slots);
    if (this.#closed || !admission.admitted) {
      this.counts.closed[this.#closed ? 'stop' : 'no_slot']++;
      socket.on('error', () => {});
      resetConnection(socket);
      return;
    }
    this.counts.accepted++;
    const { replaced } = admission;
    if (replaced?.isBusy) this.#table.moveToEnd(replaced);
    else if (replaced !== undefined) this.#table.remove(replaced);
    replaced?.closeWhenIdle();
    this.#table.add(new TcpConnection({ socket, address, client }, this.#shared));
  }

  #sweep(): void {
    this.#clockMs += SWEEP_MS;
    this.#pace.sweep();
    for (const connection of [...this.#table.all()]) connection.enforceTimeouts();
  }

  #makeShared(): TcpShared {
    const relay = this;
    const { servers, isInUse, isAnyInUse, faults, key, maxQueries } = this.#options;
    return {
      get clockMs() {
        return relay.#clockMs;
      },
      counts: this.counts,
      serverSlots: this.#serverSlots,
      key,
      maxQueries,
      servers,
      isInUse,
      isAnyInUse,
      maySendServfail: (answers) => this.#servfails.take(Date.now(), answers),
      onNoAnswer: (connection) => connection.userQueries?.expire(this.#clockMs),
      onAnswer: (head, connection) => this.#answered(head, connection),
      inTurn: (client, work) => this.#pace.run(client, work),
      refusal: (question, connection) => this.#refusal(question, connection),
      beginTransfer: (connection) => this.#beginTransfer(connection),
      note: (connection, isBusy) => this.#table.touch(connection, isBusy),
      closed: (connection, reason) => this.#gone(connection, reason),
      failed: (error) => faults.note(error, Date.now()),
    };
  }

  #refusal(question: Question, connection: TcpConnection): LocalResponse | undefined {
    const { verdict, userZone, isNameListed } = this.#options.decide(question, connection);
    this.counts.queries[verdict] = (this.counts.queries[verdict] ?? 0) + 1;
    const passes = verdict < FIRST_NOT_FORWARDED;
    if (userZone !== 0) this.#noteUser(question, connection, { userZone, passes });
    if (passes) return undefined;
    if (reasonOf(verdict) !== 'accessList') return LocalResponse.limited;
    return isNameListed ? LocalResponse.nameDenied : LocalResponse.networkDenied;
  }

  #noteUser(
    question: Question,
    connection: TcpConnection,
    { userZone, passes }: { readonly userZone: number; readonly passes: boolean },
  ): void {
    const { countUser } = this.#options;
    if (!passes) return countUser(userZone, UserEnd.limited);
    connection.userQueries ??= new PendingUserQueries(MAX_PIPELINED, countUser);
    const unlessAnswered = UserEnd.unanswered;
    connection.userQueries.add(keyOf(question), { userZone, sinceMs: this.#clockMs, unlessAnswered });
  }

  #answered(head: Uint8Array, connection: TcpConnection): void {
    const { key, onAnswer, faults } = this.#options;
    try {
      if (!readAnswer(head, key, this.#question)) return;
      connection.userQueries?.answered(keyOf(this.#question), head);
      onAnswer(head, this.#question, connection.address);
    } catch (error) {
      faults.note(error, Date.now());
    }
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
    // If a client disconnects soon after a query, it did not wait for the answer, so the query is not counted.
    const waitedMs = reason === 'no_answer' ? 0 : LEAST_WAIT_MS;
    connection.userQueries?.expire(this.#clockMs - waitedMs);
    connection.userQueries = undefined;
    this.counts.closed[reason]++;
  }
}

/** Returns a key that is the same for a query and its answer, and differs between queries of one connection. */
const keyOf = ({ id, hashHigh, hashLow, type }: Question): string => `${id} ${hashHigh} ${hashLow} ${type}`;
