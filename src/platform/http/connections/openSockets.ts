import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LinkedList } from '../../linkedList/index.ts';
import { connectionOf } from '../connection.ts';
import { endsOf } from './endsOf.ts';

/** The open sockets of a server. With TLS, a connection has two: one is below the other, and closes it with itself. */
export class OpenSockets {
  readonly #sockets = new LinkedList<Socket>();

  constructor(server: Server) {
    for (const event of ['connection', 'secureConnection'])
      server.on(event, (socket: Socket) => {
        const entry = this.#sockets.append(socket);
        socket.once('close', () => this.#sockets.remove(entry));
      });
  }

  /**
   * Closes connections without requests that wait for their responses. A request of which only a part has arrived was
   * not processed, so its connection is closed. `Connections` must watch the server.
   */
  closeIdle(): void {
    const sockets = [...this.#sockets.values()];
    // Only the socket above the handshake has a `Connection`.
    const connected = new Set(sockets.filter((socket) => connectionOf(socket) !== undefined).map(endsOf));
    for (const socket of sockets)
      if (connectionOf(socket)?.isIdle ?? !connected.has(endsOf(socket))) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}
