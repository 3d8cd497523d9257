import { Counter, Gauge, type Registry } from 'prom-client';
import { Rate } from './rate.ts';

/** The metrics of ingest, one set for all networks. */
export class IngestMetrics {
  readonly #indexed: Counter<'network'>;
  readonly #traces: Counter<'network'>;
  readonly #rates = new Map<string, Rate>();
  readonly head: Gauge<'network'>;
  readonly reorganisations: Counter<'network'>;
  readonly undone: Counter<'network'>;
  readonly failures: Counter<'network' | 'reason'>;
  readonly #firstMissing = new Map<string, () => number | undefined>();
  readonly #lags = new Map<string, () => number>();

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['network'] as const;
    this.#indexed = new Counter({
      name: 'floodgate_ingest_blocks_total',
      help: 'Blocks written to the index.',
      labelNames,
      registers,
    });
    this.#traces = new Counter({
      name: 'floodgate_ingest_traces_total',
      help: 'Traces written to the index.',
      labelNames,
      registers,
    });
    this.head = new Gauge({
      name: 'floodgate_index_head_block',
      help: 'Highest block of the index.',
      labelNames,
      registers,
    });
    this.reorganisations = new Counter({
      name: 'floodgate_ingest_reorganisations_total',
      help: 'Times that blocks of the index were replaced by others.',
      labelNames,
      registers,
    });
    this.undone = new Counter({
      name: 'floodgate_ingest_undone_blocks_total',
      help: 'Blocks that were undone.',
      labelNames,
      registers,
    });
    this.failures = new Counter({
      name: 'floodgate_ingest_failures_total',
      help: 'Attempts to follow the node that failed, by reason.',
      labelNames: ['network', 'reason'],
      registers,
    });
    const gaps = this.#firstMissing;
    new Gauge({
      name: 'floodgate_index_first_missing_block',
      help: 'Lowest block from index.from on that is not indexed yet; -1 where none is missing.',
      labelNames,
      registers,
      collect() {
        for (const [network, missing] of gaps) this.set({ network }, missing() ?? -1);
      },
    });
    const lags = this.#lags;
    new Gauge({
      name: 'floodgate_ingest_lag_blocks',
      help: 'Blocks between the head of the node and the head of the index.',
      labelNames,
      registers,
      collect() {
        for (const [network, lagOf] of lags) this.set({ network }, lagOf());
      },
    });
  }

  /** So many blocks, with so many traces, were written. */
  wrote(network: string, blocks: number, traces: number): void {
    this.#indexed.inc({ network }, blocks);
    this.#traces.inc({ network }, traces);
    this.#rateOf(network).add(blocks);
  }

  /** Blocks a second that were written in the last minute. */
  blocksPerSecond(network: string): number {
    return this.#rateOf(network).perSecond();
  }

  #rateOf(network: string): Rate {
    const rate = this.#rates.get(network) ?? new Rate();
    this.#rates.set(network, rate);
    return rate;
  }

  /** Asks for the lowest block that is missing whenever the metrics are asked for. */
  watchFirstMissing(network: string, firstMissing: () => number | undefined): void {
    this.#firstMissing.set(network, firstMissing);
  }

  /** Asks for a network's lag whenever the metrics are asked for. */
  watchLag(network: string, lagOf: () => number): void {
    this.#lags.set(network, lagOf);
  }
}
