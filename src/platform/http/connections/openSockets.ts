import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Tracks a server's connections, to close them at shutdown. Must be created after all other request listeners. */
export class IdleConnections {
  readonly #latest = new Map<Socket, ServerResponse | undefined>();
  readonly #upgraded = new Set<Socket>();

  constructor(server: Server) {
    for (const event of ['connection', 'secureConnection'])
      server.on(event, (socket: Socket) => {
        this.#latest.set(socket, undefined);
        socket.once('close', () => this.#latest.delete(socket));
      });
    server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      this.#latest.set(socket, response);
    });
    // Node treats upgrades as ordinary requests if there is no `upgrade` listener. Adding the first one here would
    // change that.
    if (server.listenerCount('upgrade') === 0) return;
    server.on('upgrade', ({ socket }: IncomingMessage) => {
      this.#latest.delete(socket);
      this.#upgraded.add(socket);
      socket.once('close', () => this.#upgraded.delete(socket));
    });
  }

  /** Closes connections that are idle or have received only a part of a request, which was not processed. */
  closeIdle(): void {
    for (const [socket, response] of this.#latest)
      if (response === undefined || response.writableFinished || !response.req.complete) socket.destroy();
  }

  /** Closes upgraded connections, which node's server does not track. */
  closeUpgraded(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }
}
