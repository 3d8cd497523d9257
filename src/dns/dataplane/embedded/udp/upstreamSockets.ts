/** UDP sockets to one DNS server, on random local ports. Every second, one socket is replaced by a new one. */

import { createSocket, type Socket } from 'node:dgram';
import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import { awaitedLater, inBackground } from '../../../../platform/background/index.ts';
import { noLookup } from './noLookup.ts';

/** Number of sockets per DNS server. With 16 random ports, a forger must guess 4 bits besides the transaction ID. */
export const SOCKETS = 16;
/** Size of the socket buffers, enough for the answers of one second. The kernel drops answers that do not fit. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
const IDS = 65_536;
/**
 * Maximum delay in seconds before another attempt to open sockets. The delay doubles after each failed attempt, up to
 * this maximum, so that a restored route is used soon.
 */
const MAX_WAIT_TICKS = 4;

export interface UpstreamSocket {
  readonly socket: Socket;
  /** Ticket of the last query with each transaction ID, or 0. */
  readonly tickets: Float64Array;
}

export interface UpstreamSocketsOptions {
  readonly address: ServerAddress;
  /** Time for which a replaced socket stays open to receive the answers to its queries. */
  readonly lingerMs: number;
}

export interface UpstreamSocketsDependencies {
  readonly onMessage: (answer: Buffer, upstream: UpstreamSocket) => void;
  readonly onRefused: () => void;
}

export class UpstreamSockets {
  /** Error of the last attempt to open a socket, such as a missing route. Undefined if the attempt succeeded. */
  unreachable: string | undefined;
  readonly #options: UpstreamSocketsOptions;
  readonly #dependencies: UpstreamSocketsDependencies;
  readonly #sockets: UpstreamSocket[] = [];
  readonly #opened: Promise<void>;
  readonly #retired = new Set<Socket>();
  /** Tables of closed sockets. Later sockets reuse them: with a new table per second, V8 kept 50 MB of old ones. */
  readonly #freeTickets: Float64Array[] = [];
  #turn = 0;
  #closed = false;
  #ticksToWait = 0;
  #nextWaitTicks = 1;

  constructor(options: UpstreamSocketsOptions, dependencies: UpstreamSocketsDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#opened = awaitedLater(this.#openMissing());
  }

  /** Resolves when the first sockets are connected or have failed. Does not wait for a packet from the server. */
  opened(): Promise<void> {
    return this.#opened;
  }

  get reachable(): boolean {
    return this.#sockets.length > 0;
  }

  /** Returns the sockets in turn, or undefined if no socket is open. */
  next(): UpstreamSocket | undefined {
    return this.#sockets[this.#turn++ % this.#sockets.length];
  }

  /** Replaces one socket by a new one. If sockets are missing, opens them instead. Called every second. */
  tick(): void {
    if (this.#closed || --this.#ticksToWait > 0) return;
    inBackground('sockets to a DNS server', () =>
      this.#sockets.length < SOCKETS ? this.#openMissing() : this.#open(this.#turn % SOCKETS),
    );
  }

  close(): void {
    this.#closed = true;
    for (const { socket } of this.#sockets.splice(0)) closeQuietly(socket);
    for (const socket of this.#retired) closeQuietly(socket);
  }

  /** Opens the missing sockets. Opens one of them first, to check that there is a route to the server. */
  async #openMissing(): Promise<void> {
    if (!(await this.#open())) return;
    await Promise.all(Array.from({ length: SOCKETS - this.#sockets.length }, () => this.#open()));
  }

  /**
   * Adds a socket, or replaces the socket with index `place`. If there is no route to the server, returns false and
   * keeps the existing sockets. Connecting a UDP socket only reads the routing table; no packet is sent.
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
    const tickets = this.#freeTickets.pop()?.fill(0) ?? new Float64Array(IDS);
    const upstream: UpstreamSocket = { socket, tickets };
    socket.on('message', (answer) => this.#dependencies.onMessage(answer, upstream));
    const old = this.#sockets[place];
    this.#sockets[place] = upstream;
    if (old !== undefined) this.#retire(old);
    this.unreachable = undefined;
    this.#nextWaitTicks = 1;
  }

  #noteUnreachable(error: Error): void {
    if (this.#closed) return;
    this.unreachable = error.message;
    this.#ticksToWait = this.#nextWaitTicks;
    this.#nextWaitTicks = Math.min(MAX_WAIT_TICKS, this.#nextWaitTicks * 2);
  }

  /** Closes a replaced socket when its last query has expired, so that answers still arrive until then. */
  #retire({ socket, tickets }: UpstreamSocket): void {
    this.#retired.add(socket);
    const timer = setTimeout(() => {
      this.#retired.delete(socket);
      closeQuietly(socket);
      this.#freeTickets.push(tickets);
    }, this.#options.lingerMs);
    timer.unref();
  }
}

/** Closes a socket that may be closed already, for which `socket.close()` would throw. */
function closeQuietly(socket: Socket): void {
  try {
    socket.close();
  } catch {}
}
