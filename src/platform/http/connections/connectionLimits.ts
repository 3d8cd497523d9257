import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { Counter, type Registry } from 'prom-client';
import { clientKey } from '../../addresses/index.ts';
import { Budget } from '../../budgets/index.ts';
import { RareLog, type WarningLog } from '../../logging/index.ts';
import { gaugesOf } from '../../metrics/index.ts';
import { connectionOf } from '../connection.ts';
import { ConnectionTable, type ConnectionUse, type HeldConnection } from './connectionTable.ts';
import { endsOf } from './endsOf.ts';

/** A client may always have this number of connections; if necessary, those of others are closed. */
const MIN_SHARE = 4;
/** Part of the free connections that one client may use. A single client can therefore use a third of all. */
const PART_OF_FREE = 1 / 2;

/** Why a connection was closed: its client is at its share, or all connections are in use. */
type Reason = 'share' | 'full';

export interface ConnectionLimitsOptions {
  /** Maximum connections of all listeners. */
  readonly max: number;
  /** Part of `max` for a separate listener for operators, which clients cannot use; 0 if there is only one listener. */
  readonly reserved: number;
  /** Whether connections from this address have no share, because many clients use them. */
  readonly isProxy: (address: string) => boolean;
  readonly metrics: Registry;
  readonly log: WarningLog;
}

/** The limits on HTTP connections of a process. */
export class ConnectionLimits {
  readonly clients: ConnectionLimit;
  readonly operators: ConnectionLimit;

  constructor({ max, reserved, isProxy, metrics, log }: ConnectionLimitsOptions) {
    const closed = new Counter({
      name: 'floodgate_http_connections_limited_total',
      help: 'Connections closed because their client had its share (share) or all connections were in use (full), by their use: new, idle, busy, or live (with subscriptions).',
      labelNames: ['reason', 'use'],
      registers: [metrics],
    });
    for (const reason of ['share', 'full']) closed.inc({ reason, use: 'new' }, 0);
    const rareLog = new RareLog(log);
    const onClosed: LimitDependencies['onClosed'] = (reason, use, fields) => {
      closed.inc({ reason, use });
      rareLog.warn({ reason, use, ...fields }, 'connections are closed: limit of HTTP connections reached');
    };
    this.clients = new ConnectionLimit(max - reserved, { isProxy, onClosed });
    this.operators = new ConnectionLimit(reserved > 0 ? reserved : max, { isProxy, onClosed });
    const help = 'Maximum HTTP connections, including those reserved for operators.';
    gaugesOf(metrics)('floodgate_http_max_connections', help, () => max);
  }
}

interface LimitDependencies {
  readonly isProxy: (address: string) => boolean;
  readonly onClosed: (reason: Reason, use: 'new' | ConnectionUse, fields: object) => void;
}

/** Bounds the connections of a listener, in total and per client. TLS handshakes count as idle connections. */
export class ConnectionLimit {
  readonly max: number;
  readonly #dependencies: LimitDependencies;
  readonly #budget: Budget;
  readonly #table = new ConnectionTable();

  constructor(max: number, dependencies: LimitDependencies) {
    this.max = max;
    this.#dependencies = dependencies;
    this.#budget = new Budget({ total: max, perClient: max, partOfFree: PART_OF_FREE, minShare: MIN_SHARE });
  }

  /** Counts the connections of a server, and closes those above the limits. `Connections` must already watch it. */
  watch(server: Server): void {
    if (!(server instanceof SecureServer)) {
      server.on('connection', (socket: Socket) => {
        const held = this.#accept(socket);
        if (held !== undefined) connectionOf(socket)?.hold(held);
      });
      return;
    }
    // A connection counts from the start of its handshake, but only the socket after the handshake is known to others.
    const handshakes = new Map<string, HeldConnection>();
    server.on('connection', (socket: Socket) => {
      const held = this.#accept(socket);
      if (held === undefined) return;
      const ends = endsOf(socket);
      handshakes.set(ends, held);
      socket.on('close', () => {
        if (handshakes.get(ends) === held) handshakes.delete(ends);
      });
    });
    server.on('secureConnection', (socket: Socket) => {
      const held = handshakes.get(endsOf(socket));
      if (held !== undefined) connectionOf(socket)?.hold(held);
    });
  }

  /**
   * Counts a new connection. Closes it, or another one, if there are too many. Returns undefined if it was closed, and
   * for connections of trusted proxies and Unix sockets, which count only in total and are never closed for others.
   */
  #accept(socket: Socket): HeldConnection | undefined {
    const { remoteAddress } = socket;
    const isShared = remoteAddress === undefined || this.#dependencies.isProxy(remoteAddress);
    const address = isShared ? '' : clientKey(remoteAddress);
    if (!isShared && this.#budget.exceededBy({ address }, 1) === 'perClient') {
      if (!this.#replace(this.#table.longestIdleOf(address), 'share')) return this.#reject(socket, 'share');
    } else if (this.#budget.total >= this.max) {
      if (!this.#replace(this.#table.replaceableFor(address), 'full')) return this.#reject(socket, 'full');
    }
    this.#budget.charge({ address }, 1);
    if (isShared) {
      socket.on('close', () => this.#budget.release({ address }, 1));
      return undefined;
    }
    const held = this.#table.add(address, () => socket.destroy());
    socket.on('close', () => this.#release(held));
    return held;
  }

  #replace(other: HeldConnection | undefined, reason: Reason): boolean {
    if (other === undefined) return false;
    this.#closed(reason, other.use, other.address);
    this.#release(other);
    other.close();
    return true;
  }

  #reject(socket: Socket, reason: Reason): undefined {
    this.#closed(reason, 'new', socket.remoteAddress);
    socket.destroy();
    return undefined;
  }

  #closed(reason: Reason, use: 'new' | ConnectionUse, address: string | undefined): void {
    const fields = { address, connections: this.#budget.total, maxConnections: this.max };
    this.#dependencies.onClosed(reason, use, fields);
  }

  #release(held: HeldConnection): void {
    if (this.#table.remove(held)) this.#budget.release({ address: held.address }, 1);
  }
}
