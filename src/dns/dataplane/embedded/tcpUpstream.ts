/** A connection to one of the servers behind, the first that can be reached; what is sent before it stands waits. */
import { connect, type Socket } from 'node:net';
import type { DnsServer } from '../index.ts';

const CONNECT_TIMEOUT_MS = 2000;

export interface TcpUpstreamOptions {
  /** In the order in which they are tried. */
  readonly servers: readonly DnsServer[];
  readonly clockMs: () => number;
  /** What a server that is told who asks is sent first. */
  readonly proxyHeader: () => Buffer;
}

export interface TcpUpstreamEvents {
  connect(): void;
  data(chunk: Buffer): void;
  /** What was sent has left: more can be. */
  drain(): void;
  /** The server closed the connection, or none could be reached. */
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

  /** The server that took the connection. */
  get server(): DnsServer | undefined {
    return this.#server;
  }

  get isConnected(): boolean {
    return this.#queued === undefined;
  }

  /** Whether it takes more now: a server that does not read is not sent more. */
  get takesMore(): boolean {
    return this.isConnected && this.#socket?.writableNeedDrain === false;
  }

  send(framed: Buffer): void {
    if (this.#queued === undefined) this.#socket?.write(framed);
    else this.#queued.push(framed);
  }

  /** Whether answers wait in the server's socket instead of here. */
  hold(isHeld: boolean): void {
    if (isHeld === this.#isPaused) return;
    this.#isPaused = isHeld;
    if (isHeld) this.#socket?.pause();
    else this.#socket?.resume();
  }

  get isHeld(): boolean {
    return this.#isPaused;
  }

  /** Gives up a server that cannot be reached, for the next one. Call it a few times a second. */
  endOverdue(): void {
    if (!this.isConnected && this.#options.clockMs() - this.#attemptMs > CONNECT_TIMEOUT_MS)
      this.#socket?.destroy();
  }

  /** Closes it by a reset: a port that waits for a minute after each connection would soon leave none for new ones. */
  close(): void {
    this.#isClosed = true;
    // A reset waits for the connection, which may never come.
    if (this.isConnected) this.#socket?.resetAndDestroy();
    else this.#socket?.destroy();
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
    // The end follows.
    socket.on('error', () => {});
    socket.once('close', () => {
      if (!connected) return this.#connect(others);
      if (!this.#isClosed) this.#events.end();
      this.#isClosed = true;
    });
  }
}
