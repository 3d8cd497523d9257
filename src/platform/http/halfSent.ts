import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Keeps count of a server's connections, for its end. To be called after everything else that listens to its requests. */
export class HalfSent {
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
    // A listener where there was none would tell node that upgrades are wanted.
    if (server.listenerCount('upgrade') === 0) return;
    server.on('upgrade', ({ socket }: IncomingMessage) => {
      this.#latest.delete(socket);
      this.#upgraded.add(socket);
      socket.once('close', () => this.#upgraded.delete(socket));
    });
  }

  /** Closes connections on which nothing is being answered: what was sent of a request is not whole, and was not begun. */
  cut(): void {
    for (const [socket, response] of this.#latest)
      if (response === undefined || response.writableFinished || !response.req.complete) socket.destroy();
  }

  /** Closes connections that have left HTTP, whose server knows nothing of them any more. */
  cutUpgraded(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }
}
