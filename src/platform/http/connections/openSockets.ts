import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { type Entry, LinkedList } from '../../linkedList/index.ts';
import { connectionOf } from '../connection.ts';
import { endsOf } from './endsOf.ts';

/**
 * The open sockets of a server, one per connection. With TLS, this is the TCP socket until the handshake is complete,
 * then the TLS socket, which also closes the TCP socket.
 */
export class OpenSockets {
  readonly #sockets = new LinkedList<Socket>();

  constructor(server: Server) {
    if (!(server instanceof SecureServer)) {
      server.on('connection', (socket: Socket) => this.#add(socket));
      return;
    }
    const handshakes = new Map<string, Entry<Socket>>();
    server.on('connection', (socket: Socket) => {
      const ends = endsOf(socket);
      const entry = this.#add(socket);
      handshakes.set(ends, entry);
      socket.once('close', () => {
        if (handshakes.get(ends) === entry) handshakes.delete(ends);
      });
    });
    server.on('secureConnection', (socket: Socket) => {
      const entry = handshakes.get(endsOf(socket));
      if (entry !== undefined) this.#sockets.remove(entry);
      this.#add(socket);
    });
  }

  /**
   * Closes connections whose complete requests are all answered, and those in a TLS handshake. Incomplete requests were
   * not processed, so they do not count. `Connections` must watch the server.
   */
  closeIdle(): void {
    for (const socket of this.#sockets.values()) if (connectionOf(socket)?.isIdle ?? true) socket.destroy();
  }

  closeAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  #add(socket: Socket): Entry<Socket> {
    const entry = this.#sockets.append(socket);
    socket.once('close', () => this.#sockets.remove(entry));
    return entry;
  }
}
