import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Closes a connection and discards unsent data. TCP is closed with a reset, so that the system frees its buffers, and
 * its local port. The connection is closed without a reset where `resetAndDestroy()` would leave it open:
 *
 * - Before it is established, Node waits for it, possibly for minutes.
 * - While its end is sent (`shutdown`), the reset fails with EINVAL. Node never closes the socket then, and a worker
 *   thread that has such a socket never exits.
 * - TLS and Unix sockets cannot be reset.
 */
export function resetConnection(socket: Socket): void {
  const isEndBeingSent = socket.writableEnded && socket.writableLength === 0 && !socket.writableFinished;
  const isTcp = !(socket instanceof TLSSocket) && socket.remoteAddress !== undefined;
  if (socket.connecting || isEndBeingSent || !isTcp) socket.destroy();
  else socket.resetAndDestroy();
}
