import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type CounterSeries, gaugesOf, SeriesCounter } from '../../platform/metrics/index.ts';
import { RpcError } from '../jsonrpc/index.ts';
import type { NodeError } from '../nodes/index.ts';
import type { CompressionResult } from './http/compression/answerCompression.ts';
import { KeyCalls } from './keys/keyCalls.ts';
import { WebSocketMetrics } from './push/webSocket/metrics.ts';

/** Histogram buckets in seconds. Results from the index take under 1 ms, requests to nodes up to their timeout. */
const DURATION_BUCKETS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Limits that can reject a request. They are the values of the label `limit`. */
const LIMITS = [
  'in_flight',
  'address_rate',
  'key_rate',
  'unsent_bytes',
  'node_budget',
  'node_traces',
  'unauthorized',
  'keys_unknown',
  'unsupported_method',
  'connections',
  'subscriptions',
  'filter_bytes',
  'new_blocks',
] as const;
export type LimitName = (typeof LIMITS)[number];

type NodeCall = Readonly<Record<'network' | 'node' | 'method', string>>;

/** State of a node at the time when metrics are scraped. */
export interface NodeGauges {
  readonly name: string;
  readonly isHealthy: boolean;
  readonly headBlock: number | undefined;
}

/** Metrics of the gateway. Labels contain names of served methods and known error codes, but no client input. */
export class GatewayMetrics {
  readonly webSockets: WebSocketMetrics;
  readonly keyCalls: KeyCalls;
  readonly #registry: Registry;
  readonly #durations: Histogram<'network' | 'method'>;
  readonly #errors: Counter<'network' | 'method' | 'code'>;
  readonly #cache: SeriesCounter<'network' | 'method' | 'result'>;
  readonly #compression: SeriesCounter<'result'>;
  readonly #limits: Counter<'limit'>;
  readonly #nodeDurations: Histogram<'network' | 'node' | 'method'>;
  readonly #nodeFailures: Counter<'network' | 'node' | 'method' | 'reason'>;
  readonly #hedges: Counter<keyof NodeCall>;
  readonly #invalidResponses: Counter<'network' | 'node' | 'method'>;
  readonly #disagreements: Counter<'network' | 'node' | 'method'>;
  readonly #inexactGas: Counter<'network' | 'node'>;
  readonly #headsBack: Counter<'network'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.webSockets = new WebSocketMetrics(registry);
    this.keyCalls = new KeyCalls(registry);
    const registers = [registry];
    const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers });
    this.#durations = new Histogram({
      name: 'floodgate_gateway_call_duration_seconds',
      help: 'Duration of a call, in seconds, by method.',
      labelNames: ['network', 'method'],
      buckets: DURATION_BUCKETS_S,
      registers,
    });
    this.#errors = counter(
      'floodgate_gateway_call_errors_total',
      'Calls answered with an error, by method and JSON-RPC error code.',
      ['network', 'method', 'code'],
    );
    this.#cache = new SeriesCounter({
      name: 'floodgate_gateway_cache_total',
      help: 'Relayed calls by source of their result: the cache (hit), a pending equal call (coalesced), a node (miss).',
      labelNames: ['network', 'method', 'result'],
      registers,
    });
    this.#compression = new SeriesCounter({
      name: 'floodgate_gateway_compression_total',
      help: 'Responses above 1 KiB for clients that accept compression: compressed, or sent uncompressed because the server is busy (busy).',
      labelNames: ['result'],
      registers,
    });
    this.#limits = counter('floodgate_gateway_limited_total', 'Requests rejected by a limit.', ['limit']);
    for (const limit of LIMITS) this.#limits.inc({ limit }, 0);
    this.#nodeDurations = new Histogram({
      name: 'floodgate_upstream_request_duration_seconds',
      help: 'Duration of a request to a node, in seconds.',
      labelNames: ['network', 'node', 'method'],
      buckets: DURATION_BUCKETS_S,
      registers,
    });
    this.#nodeFailures = counter(
      'floodgate_upstream_failures_total',
      'Failed requests to a node, by reason.',
      ['network', 'node', 'method', 'reason'],
    );
    this.#hedges = counter(
      'floodgate_upstream_hedges_total',
      'Reads that were sent to another node, because this node was slow.',
      ['network', 'node', 'method'],
    );
    this.#invalidResponses = counter(
      'floodgate_upstream_invalid_responses_total',
      'Invalid responses of a node.',
      ['network', 'node', 'method'],
    );
    this.#disagreements = counter(
      'floodgate_upstream_disagreements_total',
      'Results of a node for final blocks that were contradicted by another node.',
      ['network', 'node', 'method'],
    );
    this.#inexactGas = counter(
      'floodgate_upstream_inexact_gas_total',
      'Transactions whose root frame may have inexact gas, because the node refuses a call, or the block needs too many.',
      ['network', 'node'],
    );
    this.#headsBack = counter(
      'floodgate_upstream_head_regressions_total',
      'Number of times that the combined head of all nodes moved back.',
      ['network'],
    );
  }

  observer(network: string, method: string): <T>(call: () => Promise<T> | T) => Promise<T> | T {
    const durations = this.#durations.labels({ network, method });
    const failed = (error: unknown): never => {
      const code = error instanceof RpcError ? labelOf(error.code) : 'fault';
      this.#errors.inc({ network, method, code });
      throw error;
    };
    return (call) => {
      const startMs = performance.now();
      const finished = (): void => durations.observe((performance.now() - startMs) / 1_000);
      try {
        const result = call();
        if (result instanceof Promise) return result.catch(failed).finally(finished);
        finished();
        return result;
      } catch (error) {
        finished();
        return failed(error);
      }
    };
  }

  cacheResults(
    network: string,
    method: string,
  ): Readonly<Record<'hit' | 'miss' | 'coalesced', CounterSeries>> {
    const counted = (result: string): CounterSeries => this.#cache.series({ network, method, result });
    return { hit: counted('hit'), miss: counted('miss'), coalesced: counted('coalesced') };
  }

  compressionResults(): Readonly<Record<CompressionResult, CounterSeries>> {
    const counted = (result: CompressionResult): CounterSeries => this.#compression.series({ result });
    return { compressed: counted('compressed'), busy: counted('busy') };
  }

  limited(limit: LimitName): void {
    this.#limits.inc({ limit });
  }

  nodeAnswered({ network, node, method }: NodeCall, elapsedMs: number): void {
    this.#nodeDurations.observe({ network, node, method }, elapsedMs / 1_000);
  }

  nodeFailed(call: NodeCall, { reason }: NodeError): void {
    this.#nodeFailures.inc({ ...call, reason });
  }

  invalidResponse(call: NodeCall): void {
    this.#invalidResponses.inc(call);
  }

  disagreed(call: NodeCall): void {
    this.#disagreements.inc(call);
  }

  hedged(call: NodeCall): void {
    this.#hedges.inc(call);
  }

  inexactGas(labels: Record<'network' | 'node', string>, transactions: number): void {
    this.#inexactGas.inc(labels, transactions);
  }

  headWentBack(network: string): void {
    this.#headsBack.inc({ network });
  }

  watchInFlight(requests: () => number): void {
    const help =
      'Slots of gateway.maxInFlight in use: one for a request, and one more for each 64 KiB of its body.';
    gaugesOf(this.#registry)('floodgate_gateway_requests_in_flight', help, requests);
  }

  watchFilterBytes(bytes: () => number): void {
    const help = 'Memory of HTTP filters and subscriptions, in logical bytes.';
    gaugesOf(this.#registry)('floodgate_gateway_filter_bytes', help, bytes);
  }

  watchNodes(nodesOf: () => ReadonlyMap<string, readonly NodeGauges[]>): void {
    const gauge = (name: string, help: string, read: (node: NodeGauges) => number | undefined) =>
      new Gauge({
        name,
        help,
        labelNames: ['network', 'node'],
        registers: [this.#registry],
        collect() {
          for (const [network, nodes] of nodesOf())
            for (const node of nodes) {
              const value = read(node);
              if (value !== undefined) this.set({ network, node: node.name }, value);
            }
        },
      });
    gauge('floodgate_upstream_up', 'Whether a node is healthy (1) or out of rotation (0).', (node) =>
      Number(node.isHealthy),
    );
    gauge('floodgate_upstream_head_block', 'Latest block of a node.', ({ headBlock }) => headBlock);
  }
}

/**
 * Returns the label of an error code. All codes outside the JSON-RPC ranges share one label, because nodes can return
 * arbitrary codes and the number of series must be bounded.
 */
const labelOf = (code: number): string =>
  (code >= -32768 && code <= -32000) || code === 3 ? String(code) : 'other';
