import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * When a connection is closed whose client sent the word: before the server receives it, or before the client
 * receives the answer. The last case also rejects all later connections.
 */
export type Cut = 'before' | 'after' | 'after, for good';

/** A TCP proxy between clients and a local server that closes connections on request. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target = 0;
  #word: Buffer | undefined;
  #cut: Cut = 'before';
  #isClosed = false;
  #held: { readonly word: Buffer; times: number; readonly reached: () => void } | undefined;
  /** Delay in each direction, in milliseconds. */
  delayMs = 0;
  /** Number of connections closed because of their word. */
  cuts = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(target: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server);
    proxy.#target = target;
    server.on('connection', (client) => proxy.#pass(client));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Closes the next connection over which a client sends `word`. */
  closeNext(word: string, cut: Cut): void {
    this.#word = Buffer.from(word);
    this.#cut = cut;
  }

  /** Stops forwarding a client's data from the `times`th chunk with `word` on. Resolves when that happened. */
  stallNext(word: string, times = 1): Promise<void> {
    return new Promise((reached) => {
      this.#held = { word: Buffer.from(word), times, reached };
    });
  }

  /** Closes all connections, and forwards new ones to another port. */
  redirectTo(target: number): void {
    this.#target = target;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Whether connections are closed and rejected. */
  set isClosed(isClosed: boolean) {
    this.#isClosed = isClosed;
    if (isClosed) for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.isClosed = true;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #pass(client: Socket): void {
    if (this.#isClosed) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, '127.0.0.1');
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', cut);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    let isDoomed = false;
    let isHeld = false;
    const pass = (to: Socket, bytes: Buffer): void => {
      if (this.delayMs === 0) to.write(bytes);
      else setTimeout(() => to.writable && to.write(bytes), this.delayMs);
    };
    client.on('data', (bytes) => {
      const held = this.#held;
      if (held !== undefined && bytes.includes(held.word) && --held.times === 0) {
        this.#held = undefined;
        isHeld = true;
        held.reached();
      }
      if (isHeld) return;
      if (this.#word === undefined || !bytes.includes(this.#word)) return pass(server, bytes);
      this.#word = undefined;
      this.cuts++;
      if (this.#cut === 'before') return cut();
      isDoomed = true;
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (!isDoomed) return pass(client, bytes);
      if (this.#cut === 'after, for good') this.isClosed = true;
      cut();
    });
  }
}
