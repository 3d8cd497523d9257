import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { Counter, type Registry } from 'prom-client';

/** Maximum number of accepted connections that wait for a worker, the usual length of the kernel's accept queue. */
export const MAX_WAITING_CONNECTIONS = 512;
/** Channel on which Node.js publishes each server that starts to listen. */
const LISTENING = 'tracing:net.server.listen:asyncEnd';

interface Handle {
  close(...more: unknown[]): void;
}

interface ListenHandle {
  onconnection(error: number, connection: Handle | undefined): void;
}

/**
 * Bounds the connections that node:cluster has accepted and not yet passed to a worker. Without a bound, a flood that
 * is faster than the workers uses all descriptors of the first process, which DNS needs. Returns a function that
 * ends this for servers that listen later.
 */
export function boundWaitingConnections(registry: Registry): () => void {
  const closed = new Counter({
    name: 'floodgate_worker_connections_closed_total',
    help: 'Connections closed because too many waited for a worker.',
    registers: [registry],
  });
  const listening = (message: unknown): void => {
    const { server } = message as { readonly server: Server & { readonly _handle: ListenHandle | null } };
    const { _handle: handle } = server;
    server.once('listening', () =>
      process.nextTick(() => {
        // Only node:cluster takes the handle from the server, to pass connections on instead of serving them.
        if (handle !== null && server._handle === null) bound(handle, () => closed.inc());
      }),
    );
  };
  subscribe(LISTENING, listening);
  return () => void unsubscribe(LISTENING, listening);
}

function bound(listener: ListenHandle, onClosed: () => void): void {
  const accept = listener.onconnection;
  let waiting = 0;
  listener.onconnection = (error, connection) => {
    if (connection === undefined) return accept.call(listener, error, connection);
    if (waiting >= MAX_WAITING_CONNECTIONS) {
      connection.close();
      return onClosed();
    }
    waiting++;
    const { close } = connection;
    // node:cluster closes its copy after a worker has accepted the connection.
    connection.close = (...more) => {
      waiting--;
      connection.close = close;
      close.apply(connection, more);
    };
    accept.call(listener, error, connection);
  };
}
