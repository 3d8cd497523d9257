import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Closes some of a server's connections, each behind an answer, so that their clients connect anew. */
export class ConnectionShedder {
  readonly #server: Server;
  #share = 0;
  #closed: () => void = () => undefined;
  /** Of those that asked since `shed` was called. */
  #seen = new WeakSet<Socket>();
  #count = 0;

  constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Of the connections that ask from now on, closes so large a share, 0 to 1, each once it has its answer; 0 closes none. The first stays as long
   * as it is less than all of them: one client alone would only be sent from place to place. `closed` hears of each.
   */
  shed(share: number, closed: () => void): void {
    this.#server.off('request', this.#asked);
    this.#share = share;
    this.#closed = closed;
    this.#seen = new WeakSet();
    this.#count = 0;
    if (share > 0) this.#server.prependListener('request', this.#asked);
  }

  readonly #asked = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    if (this.#seen.has(socket)) return;
    this.#seen.add(socket);
    const before = Math.floor(this.#count * this.#share);
    this.#count++;
    if (Math.floor(this.#count * this.#share) === before) return;
    response.shouldKeepAlive = false;
    this.#closed();
  };
}
