import { Counter, Gauge, type Registry } from 'prom-client';
import { CLOSE_REASONS, type CloseReason } from '../../../../platform/http/index.ts';

export class WebSocketMetrics {
  readonly #closes: Counter<'reason'>;
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#closes = new Counter({
      name: 'floodgate_gateway_websocket_closes_total',
      help: 'Closed WebSockets, by reason.',
      labelNames: ['reason'],
      registers: [registry],
    });
    for (const reason of CLOSE_REASONS) this.#closes.inc({ reason }, 0);
  }

  closed(reason: CloseReason): void {
    this.#closes.inc({ reason });
  }

  /** Adds gauges for the numbers of open connections and subscriptions. The callbacks run at each scrape. */
  watch(open: { readonly connections: () => number; readonly subscriptions: () => number }): void {
    const registers = [this.#registry];
    new Gauge({
      name: 'floodgate_gateway_websocket_connections',
      help: 'Open WebSockets.',
      registers,
      collect() {
        this.set(open.connections());
      },
    });
    new Gauge({
      name: 'floodgate_gateway_subscriptions',
      help: 'Subscriptions of all WebSockets.',
      registers,
      collect() {
        this.set(open.subscriptions());
      },
    });
  }
}
