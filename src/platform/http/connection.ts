import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import { type CounterSeries, gaugesOf, SeriesCounter } from '../metrics/index.ts';
import { connectionEvent } from './connectionEvent.ts';
import type { ConnectionUse, HeldConnection } from './connections/connectionTable.ts';
import type { QueuedResponse, RequestSequencer } from './requestQueue.ts';

export interface OpenResponse extends QueuedResponse {
  readonly headersSent: boolean;
}

/** A client connection. Keeps the order of its requests, and counts its responses by status. */
export class Connection {
  readonly #countAnswer: (status: number) => void;
  /** Responses that are not finished, in the order of their requests. */
  readonly #unanswered: OpenResponse[] = [];
  #order: RequestSequencer<OpenResponse> | undefined;
  #held: HeldConnection | undefined;
  /** Whether an unparsable request was answered. It is the last one of the connection, so no response follows. */
  #isUnreadable = false;
  #isUpgraded = false;

  constructor(countAnswer: (status: number) => void) {
    this.#countAnswer = countAnswer;
  }

  /** Whether all complete requests are answered. An incomplete request does not count. */
  get isIdle(): boolean {
    return !this.#isUpgraded && this.#unanswered.every(({ req }) => !req.complete);
  }

  /** Sets the object that counts this connection. */
  hold(held: HeldConnection): void {
    this.#held = held;
  }

  /** Reports the use of an upgraded connection, which has no HTTP requests. */
  use(use: ConnectionUse): void {
    if (this.#held !== undefined) this.#held.use = use;
  }

  orderWith(order: RequestSequencer<OpenResponse>): void {
    this.#order = order;
  }

  arrived(response: OpenResponse): void {
    this.#unanswered.push(response);
    this.use('busy');
    this.#order?.enqueue(response);
  }

  /** Called when the response was sent completely or its client has disconnected. */
  answered(response: OpenResponse): void {
    if (response.headersSent && !this.#isUnreadable) this.#countAnswer(response.statusCode);
    const at = this.#unanswered.indexOf(response);
    if (at !== -1) this.#unanswered.splice(at, 1);
    if (this.#unanswered.length === 0) this.use('idle');
    this.#order?.onFinished(response);
  }

  /** Called for an unparsable request. Calls `close` once, after all earlier requests were answered. */
  unreadable(close: () => void): void {
    if (this.#order === undefined) close();
    else this.#order.onMalformed(close);
  }

  reportedUnreadable(status: number): void {
    this.#isUnreadable = true;
    this.#countAnswer(status);
  }

  /** Called when the connection was upgraded, as for WebSockets. Returns whether all requests were answered. */
  upgraded(): boolean {
    this.#isUpgraded = true;
    this.use('busy');
    return this.#order?.upgraded() ?? true;
  }

  closed(): void {
    this.#order?.closed();
  }
}

const CONNECTION = Symbol('connection');
// A WeakMap would keep closed sockets, with their last requests, in memory until the next full garbage collection.
type ConnectedSocket = Socket & { [CONNECTION]?: Connection };

/** Returns the connection of a socket; undefined if `Connections` does not watch the socket's server. */
export const connectionOf = (socket: ConnectedSocket): Connection | undefined => socket[CONNECTION];

/** Counts the open connections of all HTTP servers of a process, and their responses by status. */
export class Connections {
  readonly #answers: SeriesCounter<'status'>;
  readonly #series = new Map<number, CounterSeries>();
  #open = 0;

  constructor(metrics: Registry) {
    this.#answers = new SeriesCounter({
      name: 'floodgate_http_responses_total',
      help: 'HTTP answers, by status.',
      labelNames: ['status'],
      registers: [metrics],
    });
    gaugesOf(metrics)('floodgate_http_connections', 'Open connections.', () => this.#open);
  }

  watch(server: Server): void {
    server.on(connectionEvent(server), (socket: ConnectedSocket) => {
      const connection = new Connection((status) => this.#countAnswer(status));
      socket[CONNECTION] = connection;
      this.#open++;
      socket.on('close', () => {
        this.#open--;
        connection.closed();
      });
    });
  }

  #countAnswer(status: number): void {
    let series = this.#series.get(status);
    if (series === undefined) {
      series = this.#answers.series({ status: String(status) });
      this.#series.set(status, series);
    }
    series.inc();
  }
}
