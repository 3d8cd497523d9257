/** TCP connection to the first reachable DNS server of a list. Queries are queued until the connection is open. */
import { connect, type Socket } from 'node:net';
import { resetConnection } from '../../../../platform/sockets/index.ts';
import type { DnsServer } from '../../index.ts';

const CONNECT_TIMEOUT_MS = 2000;

export interface TcpUpstreamOptions {
  readonly servers: readonly DnsServer[];
  readonly clockMs: () => number;
  /** Returns the PROXY protocol header, which is sent before the queries if the DNS server expects one. */
  readonly proxyHeader: () => Buffer;
}

export interface TcpUpstreamEvents {
  connect(): void;
  data(chunk: Buffer): void;
  /** The write buffer is empty, so more queries may be sent. */
  drain(): void;
  /** The DNS server closed the connection, or no server is reachable. */
  end(): void;
}

export class TcpUpstream {
  readonly #options: TcpUpstreamOptions;
  readonly #events: TcpUpstreamEvents;
  #socket: Socket | undefined;
  #queued: Buffer[] | undefined = [];
  #isPaused = false;
  #isClosed = false;
  #attemptMs = 0;
  #server: DnsServer | undefined;

  constructor(options: TcpUpstreamOptions, events: TcpUpstreamEvents) {
    this.#options = options;
    this.#events = events;
    this.#connect(options.servers);
  }

  get server(): DnsServer | undefined {
    return this.#server;
  }

  get isConnected(): boolean {
    return this.#queued === undefined;
  }

  get isWritable(): boolean {
    return this.isConnected && this.#socket?.writableNeedDrain === false;
  }

  send(framed: Buffer): void {
    if (this.#queued === undefined) this.#socket?.write(framed);
    else this.#queued.push(framed);
  }

  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.#socket?.pause();
    else this.#socket?.resume();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Tries the next server if the connection was not established in time. Called several times per second. */
  enforceConnectTimeout(): void {
    if (!this.isConnected && this.#options.clockMs() - this.#attemptMs > CONNECT_TIMEOUT_MS)
      this.#socket?.destroy();
  }

  /**
   * Resets the connection. A normal close would leave the local port in TIME_WAIT for a minute, so that many closes
   * would use up all ports.
   */
  close(): void {
    this.#isClosed = true;
    if (this.#socket !== undefined) resetConnection(this.#socket);
  }

  #connect([server, ...others]: readonly DnsServer[]): void {
    if (this.#isClosed) return;
    if (server === undefined) {
      this.#isClosed = true;
      queueMicrotask(() => this.#events.end());
      return;
    }
    const socket = connect({ host: server.host, port: server.port, noDelay: true });
    this.#socket = socket;
    let connected = false;
    this.#attemptMs = this.#options.clockMs();
    socket.once('connect', () => {
      connected = true;
      this.#server = server;
      if (server.proxyProtocol === 'udp and tcp') socket.write(this.#options.proxyHeader());
      for (const framed of this.#queued ?? []) socket.write(framed);
      this.#queued = undefined;
      this.#events.connect();
    });
    socket.on('data', (chunk: Buffer) => this.#isClosed || this.#events.data(chunk));
    socket.on('drain', () => this.#events.drain());
    // Errors need no handling, because the `close` event follows.
    socket.on('error', () => {});
    socket.once('close', () => {
      if (!connected) return this.#connect(others);
      if (!this.#isClosed) this.#events.end();
      this.#isClosed = true;
    });
  }
}
