import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Server } from 'node:net';
import { Counter, type Registry } from 'prom-client';
import { clientKey } from '../../platform/addresses/index.ts';
import { Budget, type BudgetClient, Slots } from '../../platform/budgets/index.ts';

/** Maximum number of accepted connections that wait for a worker, the usual length of the kernel's accept queue. */
export const MAX_WAITING_CONNECTIONS = 512;
/** Channel on which Node.js publishes each server that starts to listen. */
const LISTENING = 'tracing:net.server.listen:asyncEnd';

/** One client may use as many places as are free, so that a burst of connections leaves places for others. */
const PART_OF_FREE = 1;
const MIN_SHARE = 4;
/** After this time, the next connection is passed on, because a killed worker never accepts its own. */
const ACCEPT_MS = 1_000;

interface Handle {
  close(...more: unknown[]): void;
  /** Sets the client's address of a TCP connection. Returns 0, or an error number. Unix sockets do not have it. */
  getpeername?(peer: { address?: string }): number;
}

interface ListenHandle {
  close(...more: unknown[]): void;
  onconnection(error: number, connection: Handle | undefined): void;
}

export interface WaitingConnectionsDependencies {
  readonly registry: Registry;
  /** Whether connections from this address have no share, because many clients use them. */
  readonly isProxy: (address: string) => boolean;
  /** Number of workers. */
  readonly workers: number;
}

/**
 * Bounds the connections that were accepted and that no worker has yet, in total and per client. Without a bound, a
 * flood that is faster than the workers uses all descriptors of the first process, which DNS needs. node:cluster passes
 * connections on in the order of their arrival, so it gets only one for each worker, and clients take turns.
 * Returns a function that ends this for servers that listen later.
 */
export function boundWaitingConnections(dependencies: WaitingConnectionsDependencies): () => void {
  const { registry, workers } = dependencies;
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
    clientOf(connection) {
      const address = addressOf(connection);
      return { address: address === undefined || dependencies.isProxy(address) ? '' : clientKey(address) };
    },
    take(client) {
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
        if (handle !== null && server._handle === null)
          bound(handle, { places, slots: new Slots({ total: workers, perClient: workers }) });
      }),
    );
  };
  subscribe(LISTENING, listening);
  return () => void unsubscribe(LISTENING, listening);
}

interface Places {
  clientOf(connection: Handle): BudgetClient;
  /** Returns the function that frees the place; undefined if the connection gets none. */
  take(client: BudgetClient): (() => void) | undefined;
}

interface Bounds {
  readonly places: Places;
  /** One for each connection that was passed on and that no worker has accepted yet. */
  readonly slots: Slots;
}

function bound(listener: ListenHandle, { places, slots }: Bounds): void {
  const { onconnection: accept, close: closeListener } = listener;
  let isClosed = false;
  // node:cluster closes its listener when the last worker ends, and then passes nothing on.
  listener.close = (...more) => {
    isClosed = true;
    closeListener.apply(listener, more);
  };
  listener.onconnection = (error, connection) => {
    if (connection === undefined) return accept.call(listener, error, connection);
    const client = places.clientOf(connection);
    const free = places.take(client);
    if (free === undefined) return connection.close();
    slots.take(client, (end) => {
      const { close } = connection;
      const timer = setTimeout(end, ACCEPT_MS).unref();
      // node:cluster closes its copy after a worker has accepted the connection.
      connection.close = (...more) => {
        clearTimeout(timer);
        connection.close = close;
        close.apply(connection, more);
        free();
        end();
      };
      if (isClosed) connection.close();
      else accept.call(listener, error, connection);
    });
  };
}

function addressOf(connection: Handle): string | undefined {
  const peer: { address?: string } = {};
  return connection.getpeername?.(peer) === 0 ? peer.address : undefined;
}
