import { Counter, type Registry } from 'prom-client';
import { gaugesOf } from '../metrics/index.ts';
import type { Webhook } from './webhook.ts';

export type DropReason = 'queue_full' | 'expired';

/** Metrics of alerts. Labels are fixed words and webhook names (`webhook-1`), so the number of series is bounded. */
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
      help: 'Alerts, by kind and state (firing, resolved).',
      labelNames: ['kind', 'state'],
      registers,
    });
    this.deliveries = new Counter({
      name: 'floodgate_alert_deliveries_total',
      help: 'Delivery attempts of alerts: delivered, failed (retried), given_up (rejected by the webhook).',
      labelNames: ['webhook', 'outcome'],
      registers,
    });
    this.dropped = new Counter({
      name: 'floodgate_alerts_dropped_total',
      help: 'Alerts dropped because the queue was full (queue_full) or they were too old (expired).',
      labelNames: ['reason'],
      registers,
    });
    for (const { name } of webhooks)
      for (const outcome of ['delivered', 'failed', 'given_up'])
        this.deliveries.inc({ webhook: name, outcome }, 0);
    for (const reason of ['queue_full', 'expired'] satisfies DropReason[]) this.dropped.inc({ reason }, 0);
    gaugesOf(registry)(
      'floodgate_alerts_waiting',
      'Alerts that are not yet delivered to all webhooks.',
      waiting,
    );
  }
}
