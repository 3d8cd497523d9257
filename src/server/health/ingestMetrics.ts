import { Counter, Gauge, type Registry } from 'prom-client';
import type { IndexerStatus } from '../../ethereum/ingest/index.ts';
import { Rate } from '../listen/rate.ts';

/** Adds a network to a gauge. Each scrape of the metrics calls `read`; undefined is exported as -1. */
type WatchNetwork = (network: string, read: () => number | undefined) => void;

export interface WatchedIndex {
  readonly status: () => Pick<IndexerStatus, 'lagBlocks' | 'unavailable' | 'firstMissing'>;
  readonly onDemandBytes: () => number | undefined;
}

/** Metrics of ingest for all networks. Each metric has the network as a label. */
export class IngestMetrics {
  readonly #indexed: Counter<'network'>;
  readonly #traces: Counter<'network'>;
  readonly #rates = new Map<string, Rate>();
  readonly head: Gauge<'network'>;
  readonly reorganisations: Counter<'network'>;
  readonly undone: Counter<'network'>;
  readonly failures: Counter<'network' | 'reason'>;
  readonly evicted: Counter<'network'>;
  readonly #watchOnDemand: WatchNetwork;
  readonly #watchFirstMissing: WatchNetwork;
  readonly #watchUnavailable: WatchNetwork;
  readonly #watchLag: WatchNetwork;

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
    this.evicted = new Counter({
      name: 'floodgate_index_evicted_blocks_total',
      help: 'On-demand blocks removed from the index, because new ones exceeded index.onDemandBytes.',
      labelNames,
      registers,
    });
    this.#watchOnDemand = gaugeOfNetworks(registry, {
      name: 'floodgate_index_on_demand_bytes',
      help: 'Size of the blocks that were indexed because a client requested them.',
    });
    this.#watchFirstMissing = gaugeOfNetworks(registry, {
      name: 'floodgate_index_first_missing_block',
      help: 'Lowest block from index.from that is not indexed yet; -1 if none is missing.',
    });
    this.#watchUnavailable = gaugeOfNetworks(registry, {
      name: 'floodgate_index_unavailable_blocks',
      help: 'Blocks of the index without traces, because no node can trace them.',
    });
    this.#watchLag = gaugeOfNetworks(registry, {
      name: 'floodgate_ingest_lag_blocks',
      help: 'Blocks between the head of the node and the head of the index.',
    });
  }

  /** Exports the state of a network's index whenever metrics are collected. */
  watch(network: string, { status, onDemandBytes }: WatchedIndex): void {
    this.#watchLag(network, () => status().lagBlocks ?? 0);
    this.#watchUnavailable(network, () => status().unavailable.length);
    this.#watchFirstMissing(network, () => status().firstMissing);
    this.#watchOnDemand(network, () => onDemandBytes() ?? 0);
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
}

/** Registers a gauge with the network as its label. Returns a function that adds a network to it. */
function gaugeOfNetworks(
  registry: Registry,
  { name, help }: { readonly name: string; readonly help: string },
): WatchNetwork {
  const networks = new Map<string, () => number | undefined>();
  new Gauge({
    name,
    help,
    labelNames: ['network'],
    registers: [registry],
    collect() {
      for (const [network, read] of networks) this.set({ network }, read() ?? -1);
    },
  });
  return (network, read) => networks.set(network, read);
}
