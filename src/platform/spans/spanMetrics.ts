import { Counter, type Registry } from 'prom-client';

const REASONS = ['queue_full', 'refused', 'too_many', 'stopped'] as const;
export type SpanDropReason = (typeof REASONS)[number];

export class SpanMetrics {
  readonly #exported: Counter;
  readonly #dropped: Counter<'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#exported = new Counter({
      name: 'floodgate_spans_exported_total',
      help: 'Spans accepted by the collector.',
      registers,
    });
    this.#dropped = new Counter({
      name: 'floodgate_spans_dropped_total',
      help: 'Dropped spans: queue full (queue_full), rejected by the collector (refused), too many in one request (too_many), server stopped (stopped).',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of REASONS) this.#dropped.inc({ reason }, 0);
  }

  exported(spans: number): void {
    this.#exported.inc(spans);
  }

  dropped(reason: SpanDropReason, spans = 1): void {
    this.#dropped.inc({ reason }, spans);
  }
}
