import { Counter, type Registry } from 'prom-client';
import { gaugesOf } from '../metrics/index.ts';
import type { Webhook } from './webhook.ts';

export type DropReason = 'queue_full' | 'expired';

/** Alerts in `/metrics`: labels are fixed words and the webhooks' places in the configuration. */
export class AlertMetrics {
  readonly alerts: Counter<'kind' | 'state'>;
  readonly deliveries: Counter<'webhook' | 'outcome'>;
  readonly dropped: Counter<'reason'>;

  constructor(
    registry: Registry,
    { webhooks, waiting }: { readonly webhooks: readonly Webhook[]; readonly waiting: () => number },
  ) {
    const registers = [registry];
    this.alerts = new Counter({
      name: 'floodgate_alerts_total',
      help: 'Alerts: that something began (firing) or is over (resolved).',
      labelNames: ['kind', 'state'],
      registers,
    });
    this.deliveries = new Counter({
      name: 'floodgate_alert_deliveries_total',
      help: 'Attempts to deliver an alert: delivered, failed (tried again), given_up (the receiver refuses it).',
      labelNames: ['webhook', 'outcome'],
      registers,
    });
    this.dropped = new Counter({
      name: 'floodgate_alerts_dropped_total',
      help: 'Alerts that were dropped as too many waited, or one waited for days.',
      labelNames: ['reason'],
      registers,
    });
    for (const { name } of webhooks)
      for (const outcome of ['delivered', 'failed', 'given_up'])
        this.deliveries.inc({ webhook: name, outcome }, 0);
    for (const reason of ['queue_full', 'expired'] satisfies DropReason[]) this.dropped.inc({ reason }, 0);
    gaugesOf(registry)('floodgate_alerts_waiting', 'Alerts that a receiver has not taken yet.', waiting);
  }
}
