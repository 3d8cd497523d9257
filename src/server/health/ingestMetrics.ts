import { Counter, Gauge, type Registry } from 'prom-client';
import { Rate } from '../listen/rate.ts';

/** Metrics of ingest for all networks. Each metric has the network as a label. */
export class IngestMetrics {
  readonly #indexed: Counter<'network'>;
  readonly #traces: Counter<'network'>;
  readonly #rates = new Map<string, Rate>();
  readonly head: Gauge<'network'>;
  readonly reorganisations: Counter<'network'>;
  readonly undone: Counter<'network'>;
  readonly failures: Counter<'network' | 'reason'>;
  readonly #firstMissing = new Map<string, () => number | undefined>();
  readonly #unavailable = new Map<string, () => number>();
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
      help: 'Reorganisations that replaced blocks of the index.',
      labelNames,
      registers,
    });
    this.undone = new Counter({
      name: 'floodgate_ingest_undone_blocks_total',
      help: 'Blocks removed from the index by reorganisations.',
      labelNames,
      registers,
    });
    this.failures = new Counter({
      name: 'floodgate_ingest_failures_total',
      help: 'Failed attempts to index new blocks, by reason.',
      labelNames: ['network', 'reason'],
      registers,
    });
    const gaps = this.#firstMissing;
    new Gauge({
      name: 'floodgate_index_first_missing_block',
      help: 'Lowest block from index.from that is not indexed yet; -1 if none is missing.',
      labelNames,
      registers,
      collect() {
        for (const [network, missing] of gaps) this.set({ network }, missing() ?? -1);
      },
    });
    const unavailable = this.#unavailable;
    new Gauge({
      name: 'floodgate_index_unavailable_blocks',
      help: 'Blocks of the index without traces, because no node can trace them.',
      labelNames,
      registers,
      collect() {
        for (const [network, countOf] of unavailable) this.set({ network }, countOf());
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

  countWritten(network: string, blocks: number, traces: number): void {
    this.#indexed.inc({ network }, blocks);
    this.#traces.inc({ network }, traces);
    this.#rateOf(network).add(blocks);
  }

  /** Returns the number of blocks written to the index per second, averaged over the last minute. */
  blocksPerSecond(network: string): number {
    return this.#rateOf(network).perSecond();
  }

  #rateOf(network: string): Rate {
    const rate = this.#rates.get(network) ?? new Rate();
    this.#rates.set(network, rate);
    return rate;
  }

  /** Registers a function that returns a network's lowest missing block. Each scrape of the metrics calls it. */
  watchFirstMissing(network: string, firstMissing: () => number | undefined): void {
    this.#firstMissing.set(network, firstMissing);
  }

  watchUnavailable(network: string, countOf: () => number): void {
    this.#unavailable.set(network, countOf);
  }

  watchLag(network: string, lagOf: () => number): void {
    this.#lags.set(network, lagOf);
  }
}
