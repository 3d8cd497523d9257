/**
 * The UDP sockets to one server: several on random ports, one of them replaced every second, opened again where the way to
 * the server was lost.
 */
import { createSocket, type Socket } from 'node:dgram';
import type { ServerAddress } from '../../../platform/addresses/index.ts';
import { noLookup } from './noLookup.ts';

/** Sixteen bits of id and four of port: the kernel picks each port at random, and one socket is replaced every second. */
const SOCKETS = 16;
/** Large enough for a second of answers: what does not fit is lost. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
const IDS = 65_536;
/** Twice as long after each socket that could not be opened, up to this: a route that is back is used soon. */
const MAX_WAIT_TICKS = 4;

export interface UpstreamSocket {
  readonly socket: Socket;
  /** The ticket under which each id waits. */
  readonly tickets: Float64Array;
}

export interface UpstreamSocketsOptions {
  readonly address: ServerAddress;
  /** How long an answer may come to a socket that was replaced. */
  readonly lingerMs: number;
}

export interface UpstreamSocketsDependencies {
  readonly onMessage: (answer: Buffer, upstream: UpstreamSocket) => void;
  /** A connected socket hears that nobody listens there. */
  readonly onRefused: () => void;
}

export class UpstreamSockets {
  /** Why the last socket could not be opened, undefined where it could: no route to the server, or no descriptor left. */
  unreachable: string | undefined;
  readonly #options: UpstreamSocketsOptions;
  readonly #dependencies: UpstreamSocketsDependencies;
  /** Those that are open: none where there is no way to the server. */
  readonly #sockets: UpstreamSocket[] = [];
  readonly #opened: Promise<void>;
  readonly #retired = new Set<Socket>();
  #turn = 0;
  #closed = false;
  #ticksToWait = 0;
  #nextWaitTicks = 1;

  constructor(options: UpstreamSocketsOptions, dependencies: UpstreamSocketsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#opened = this.#openMissing();
  }

  /** Resolves when the first sockets can send, or it is known why they cannot: neither waits for the server. */
  opened(): Promise<void> {
    return this.#opened;
  }

  /** Whether there is a socket to send from. */
  get reachable(): boolean {
    return this.#sockets.length > 0;
  }

  /** The next in turn; undefined where none is open. */
  next(): UpstreamSocket | undefined {
    return this.#sockets[this.#turn++ % this.#sockets.length];
  }

  /** Replaces a socket, or opens those that are missing. Every second. */
  tick(): void {
    if (this.#closed || --this.#ticksToWait > 0) return;
    if (this.#sockets.length < SOCKETS) void this.#openMissing();
    else void this.#open(this.#turn % SOCKETS);
  }

  close(): void {
    this.#closed = true;
    for (const { socket } of this.#sockets.splice(0)) closeQuietly(socket);
    for (const socket of this.#retired) closeQuietly(socket);
  }

  /** One socket first, which tells whether there is a way to the server, then the others. */
  async #openMissing(): Promise<void> {
    if (!(await this.#open())) return;
    await Promise.all(Array.from({ length: SOCKETS - this.#sockets.length }, () => this.#open()));
  }

  /**
   * Adds a socket, or puts it in the place of another. False where there is no way to the server: what is there goes on.
   * Connecting a UDP socket asks the routing table and nobody else.
   */
  #open(place?: number): Promise<boolean> {
    const { host, port } = this.#options.address;
    const socket = createSocket({
      type: host.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: SOCKET_BUFFER_BYTES,
      sendBufferSize: SOCKET_BUFFER_BYTES,
      lookup: noLookup,
    });
    return new Promise((resolve) => {
      const onFailure = (error: Error): void => {
        closeQuietly(socket);
        this.#noteUnreachable(error);
        resolve(false);
      };
      socket.once('error', onFailure);
      socket.once('connect', () => {
        socket.off('error', onFailure);
        socket.on('error', () => this.#dependencies.onRefused());
        this.#use(socket, place);
        resolve(true);
      });
      try {
        socket.connect(port, host);
      } catch (error) {
        onFailure(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  #use(socket: Socket, place = this.#sockets.length): void {
    if (this.#closed || place >= SOCKETS) return closeQuietly(socket);
    const upstream: UpstreamSocket = { socket, tickets: new Float64Array(IDS) };
    socket.on('message', (answer) => this.#dependencies.onMessage(answer, upstream));
    const old = this.#sockets[place];
    this.#sockets[place] = upstream;
    if (old !== undefined) this.#retire(old.socket);
    this.unreachable = undefined;
    this.#nextWaitTicks = 1;
  }

  #noteUnreachable(error: Error): void {
    if (this.#closed) return;
    this.unreachable = error.message;
    this.#ticksToWait = this.#nextWaitTicks;
    this.#nextWaitTicks = Math.min(MAX_WAIT_TICKS, this.#nextWaitTicks * 2);
  }

  /** The old socket hears late answers until nothing sent from it can be waiting any more. */
  #retire(socket: Socket): void {
    this.#retired.add(socket);
    const timer = setTimeout(() => {
      this.#retired.delete(socket);
      closeQuietly(socket);
    }, this.#options.lingerMs);
    timer.unref();
  }
}

/** Closing twice throws in dgram; a socket that failed to open is closed already. */
function closeQuietly(socket: Socket): void {
  try {
    socket.close();
  } catch {
    // Closed already: what was wanted.
  }
}
