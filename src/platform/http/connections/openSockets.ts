import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LinkedList } from '../../linkedList/index.ts';
import { connectionOf } from '../connection.ts';
import { endsOf } from './endsOf.ts';

/** The open sockets of a server. A TLS connection has two: if the TCP socket is closed, the TLS socket closes, too. */
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
   * Closes connections whose complete requests are all answered. Incomplete requests were not processed, so they do not
   * count. `Connections` must watch the server.
   */
  closeIdle(): void {
    const sockets = [...this.#sockets.values()];
    // With TLS, only the TLS socket has a `Connection`, and it exists only after the handshake.
    const connected = new Set(sockets.filter((socket) => connectionOf(socket) !== undefined).map(endsOf));
    for (const socket of sockets)
      if (connectionOf(socket)?.isIdle ?? !connected.has(endsOf(socket))) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}
