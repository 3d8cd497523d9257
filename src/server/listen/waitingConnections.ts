import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { Counter, type Registry } from 'prom-client';
import { clientKey } from '../../platform/addresses/index.ts';
import { Budget } from '../../platform/budgets/index.ts';

/** Maximum number of accepted connections that wait for a worker, the usual length of the kernel's accept queue. */
export const MAX_WAITING_CONNECTIONS = 512;
/** Channel on which Node.js publishes each server that starts to listen. */
const LISTENING = 'tracing:net.server.listen:asyncEnd';

/** One client may use as many places as are free, so that a burst of connections leaves places for others. */
const PART_OF_FREE = 1;
const MIN_SHARE = 4;

interface Handle {
  close(...more: unknown[]): void;
  /** Sets the client's address of a TCP connection. Returns 0, or an error number. Unix sockets do not have it. */
  getpeername?(peer: { address?: string }): number;
}

interface ListenHandle {
  onconnection(error: number, connection: Handle | undefined): void;
}

export interface WaitingConnectionsDependencies {
  readonly registry: Registry;
  /** Whether connections from this address have no share, because many clients use them. */
  readonly isProxy: (address: string) => boolean;
}

/**
 * Bounds the connections that node:cluster has accepted and not yet passed to a worker, in total and per client.
 * Without a bound, a flood that is faster than the workers uses all descriptors of the first process, which DNS needs.
 * Returns a function that ends this for servers that listen later.
 */
export function boundWaitingConnections({ registry, isProxy }: WaitingConnectionsDependencies): () => void {
  const closed = new Counter({
    name: 'floodgate_worker_connections_closed_total',
    help: 'Connections closed because too many waited for a worker, of their client or in all.',
    registers: [registry],
  });
  const budget = new Budget({
    total: MAX_WAITING_CONNECTIONS,
    perClient: MAX_WAITING_CONNECTIONS,
    partOfFree: PART_OF_FREE,
    minShare: MIN_SHARE,
  });
  const places: Places = {
    take(connection) {
      const address = addressOf(connection);
      const client = { address: address === undefined || isProxy(address) ? '' : clientKey(address) };
      const isFull =
        client.address === '' ? budget.total >= MAX_WAITING_CONNECTIONS : !!budget.exceededBy(client, 1);
      if (isFull) {
        closed.inc();
        return undefined;
      }
      budget.charge(client, 1);
      return () => budget.release(client, 1);
    },
  };
  const listening = (message: unknown): void => {
    const { server } = message as { readonly server: Server & { readonly _handle: ListenHandle | null } };
    const { _handle: handle } = server;
    server.once('listening', () =>
      process.nextTick(() => {
        // Only node:cluster takes the handle from the server, to pass connections on instead of serving them.
        if (handle !== null && server._handle === null) bound(handle, places);
      }),
    );
  };
  subscribe(LISTENING, listening);
  return () => void unsubscribe(LISTENING, listening);
}

interface Places {
  /** Returns the function that frees the place; undefined if the connection gets none. */
  take(connection: Handle): (() => void) | undefined;
}

function bound(listener: ListenHandle, places: Places): void {
  const accept = listener.onconnection;
  listener.onconnection = (error, connection) => {
    if (connection === undefined) return accept.call(listener, error, connection);
    const free = places.take(connection);
    if (free === undefined) return connection.close();
    const { close } = connection;
    // node:cluster closes its copy after a worker has accepted the connection.
    connection.close = (...more) => {
      free();
      connection.close = close;
      close.apply(connection, more);
    };
    accept.call(listener, error, connection);
  };
}

function addressOf(connection: Handle): string | undefined {
  const peer: { address?: string } = {};
  return connection.getpeername?.(peer) === 0 ? peer.address : undefined;
}
