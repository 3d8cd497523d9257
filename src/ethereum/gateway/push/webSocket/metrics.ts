import { Counter, type Registry } from 'prom-client';
import { CLOSE_REASONS, type CloseReason } from '../../../../platform/http/index.ts';
import { gaugesOf } from '../../../../platform/metrics/index.ts';

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
    const gauge = gaugesOf(this.#registry);
    gauge('floodgate_gateway_websocket_connections', 'Open WebSockets.', open.connections);
    gauge('floodgate_gateway_subscriptions', 'Subscriptions of all WebSockets.', open.subscriptions);
  }
}
