import { Counter, type Registry } from 'prom-client';

const REASONS = ['queue_full', 'refused', 'too_many', 'stopped'] as const;
export type SpanDropReason = (typeof REASONS)[number];

/** Counts spans that were sent, and those that never will be. */
export class SpanMetrics {
  readonly #exported: Counter;
  readonly #dropped: Counter<'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#exported = new Counter({
      name: 'floodgate_spans_exported_total',
      help: 'Spans that the collector has taken.',
      registers,
    });
    this.#dropped = new Counter({
      name: 'floodgate_spans_dropped_total',
      help: 'Spans that were dropped: too many waited (queue_full), the collector refused them (refused), one request had too many (too_many), the server stopped (stopped).',
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
