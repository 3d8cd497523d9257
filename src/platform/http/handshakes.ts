import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Server as SecureServer } from 'node:tls';
import { Counter, type Registry } from 'prom-client';
import { clientKey } from '../addresses/index.ts';
import { Budget } from '../budgets/index.ts';

/** New TLS handshakes of one client per second. A handshake takes about a millisecond. */
const MAX_PER_SECOND = 20;
const WINDOW_MS = 1_000;

export interface HandshakesOptions {
  /** Number of processes that share the connections of clients. Default: 1. */
  readonly processes?: number;
  /** Whether an address is a proxy, whose handshakes are not limited. */
  readonly isTrustedProxy: (address: string) => boolean;
  readonly metrics: Registry;
}

/** Limits the TLS handshakes of each client. Connections above the limit are closed before their handshake. */
export class Handshakes {
  readonly #maxPerSecond: number;
  readonly #isTrustedProxy: (address: string) => boolean;
  readonly #rejected: Counter;
  #budget: Budget;
  #windowEndMs = 0;

  constructor({ processes = 1, isTrustedProxy, metrics }: HandshakesOptions) {
    this.#maxPerSecond = Math.ceil(MAX_PER_SECOND / processes);
    this.#isTrustedProxy = isTrustedProxy;
    this.#budget = this.#newBudget();
    this.#rejected = new Counter({
      name: 'floodgate_http_handshakes_rejected_total',
      help: 'Connections closed before their TLS handshake, because their client began too many in one second.',
      registers: [metrics],
    });
  }

  /** Limits the handshakes of a server. Does nothing if the server does not use TLS. */
  watch(server: Server): void {
    if (!(server instanceof SecureServer)) return;
    const others = server.listeners('connection') as ((socket: Socket) => void)[]; // node's types only have Function
    server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      if (this.#take(socket.remoteAddress ?? '')) for (const other of others) other.call(server, socket);
      else socket.destroy();
    });
  }

  #take(address: string): boolean {
    if (address === '' || this.#isTrustedProxy(address)) return true;
    const nowMs = performance.now();
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + WINDOW_MS;
      this.#budget = this.#newBudget();
    }
    const client = { address: clientKey(address) };
    if (this.#budget.exceededBy(client, 1) !== undefined) {
      this.#rejected.inc();
      return false;
    }
    this.#budget.charge(client, 1);
    return true;
  }

  #newBudget(): Budget {
    return new Budget({ perClient: this.#maxPerSecond, total: Number.POSITIVE_INFINITY });
  }
}
