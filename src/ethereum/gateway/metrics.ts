import { Counter, Gauge, type Registry } from 'prom-client';
import { type TalliedSeries, type Tally, tallied, talliedHistogram } from '../../platform/metrics/index.ts';
import { RpcError } from '../jsonrpc/index.ts';
import type { NodeError } from '../nodes/index.ts';
import type { CompressionResult } from './compression/answerCompression.ts';
import { KeyCalls } from './keys/keyCalls.ts';
import { WebSocketMetrics } from './webSocket/metrics.ts';

/** Seconds: an answer from the index takes a fraction of a millisecond, one that waits for a node up to its time limit. */
const DURATION_BUCKETS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Limits that a request can hit. */
const LIMITS = [
  'in_flight',
  'address_rate',
  'key_rate',
  'unsent_bytes',
  'node_budget',
  'unauthorized',
  'keys_unknown',
  'unsupported_method',
  'connections',
  'subscriptions',
] as const;
export type LimitName = (typeof LIMITS)[number];

/** A call of one node. */
type NodeCall = Readonly<Record<'network' | 'node' | 'method', string>>;

/** What is known of a node when the metrics are asked for. */
export interface NodeGauges {
  readonly name: string;
  readonly isHealthy: boolean;
  readonly headBlock: number | undefined;
}

/** Counts and times calls. Labels are names of our method table and codes of our error table, never a client's text. */
export class GatewayMetrics {
  readonly webSockets: WebSocketMetrics;
  readonly keyCalls: KeyCalls;
  readonly #registry: Registry;
  readonly #durations: (labels: Readonly<Record<'network' | 'method', string>>) => TalliedSeries;
  readonly #errors: Counter<'network' | 'method' | 'code'>;
  readonly #cache: (labels: Readonly<Record<'network' | 'method' | 'result', string>>) => Tally;
  readonly #compression: (labels: Readonly<Record<'result', string>>) => Tally;
  readonly #limits: ReadonlyMap<LimitName, Tally>;
  readonly #nodeDurations: (labels: NodeCall) => TalliedSeries;
  /** The series that were made, by network, node and method: as many as are configured and the table has. */
  readonly #nodeSeries = new Map<string, TalliedSeries>();
  readonly #nodeFailures: Counter<'network' | 'node' | 'method' | 'reason'>;
  readonly #hedges: Counter<'network' | 'method'>;
  readonly #invalidResponses: Counter<'network' | 'node' | 'method'>;
  readonly #disagreements: Counter<'network' | 'node' | 'method'>;
  readonly #headsBack: Counter<'network'>;

  constructor(registry: Registry) {
    this.#registry = registry;
    this.webSockets = new WebSocketMetrics(registry);
    this.keyCalls = new KeyCalls(registry);
    const registers = [registry];
    this.#durations = talliedHistogram({
      name: 'floodgate_gateway_call_duration_seconds',
      help: 'Time from a call to its answer, by method.',
      labelNames: ['network', 'method'],
      buckets: DURATION_BUCKETS_S,
      registry,
    });
    this.#errors = new Counter({
      name: 'floodgate_gateway_call_errors_total',
      help: 'Calls answered with an error, by method and JSON-RPC error code.',
      labelNames: ['network', 'method', 'code'],
      registers,
    });
    this.#cache = tallied({
      name: 'floodgate_gateway_cache_total',
      help: 'Relayed calls by where their answer came from: the cache (hit), another call under way (coalesced), a node (miss).',
      labelNames: ['network', 'method', 'result'],
      registry,
    });
    this.#compression = tallied({
      name: 'floodgate_gateway_compression_total',
      help: 'Answers that their client wanted compressed: from a kept form (kept), compressed for it (live), sent as they were for want of processor time (busy).',
      labelNames: ['result'],
      registry,
    });
    const limits = tallied({
      name: 'floodgate_gateway_limited_total',
      help: 'Requests refused by a limit.',
      labelNames: ['limit'],
      registry,
    });
    this.#limits = new Map(LIMITS.map((limit) => [limit, limits({ limit })]));
    this.#nodeDurations = talliedHistogram({
      name: 'floodgate_upstream_request_duration_seconds',
      help: 'Time from a request to a node to its answer.',
      labelNames: ['network', 'node', 'method'],
      buckets: DURATION_BUCKETS_S,
      registry,
    });
    this.#nodeFailures = new Counter({
      name: 'floodgate_upstream_failures_total',
      help: 'Requests that a node did not answer usably, by reason.',
      labelNames: ['network', 'node', 'method', 'reason'],
      registers,
    });
    this.#hedges = new Counter({
      name: 'floodgate_upstream_hedges_total',
      help: 'Slow reads that were sent to a second node.',
      labelNames: ['network', 'method'],
      registers,
    });
    this.#invalidResponses = new Counter({
      name: 'floodgate_upstream_invalid_responses_total',
      help: 'Answers of a node that cannot be true.',
      labelNames: ['network', 'node', 'method'],
      registers,
    });
    this.#disagreements = new Counter({
      name: 'floodgate_upstream_disagreements_total',
      help: 'Answers about a final block of a node that another node contradicted.',
      labelNames: ['network', 'node', 'method'],
      registers,
    });
    this.#headsBack = new Counter({
      name: 'floodgate_upstream_head_went_back_total',
      help: 'Times that the head of all nodes together went back.',
      labelNames: ['network'],
      registers,
    });
  }

  /** Carries out calls of one method and counts them. */
  observer(network: string, method: string): <T>(call: () => Promise<T> | T) => Promise<T> | T {
    const durations = this.#durations({ network, method });
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

  cacheResults(network: string, method: string): Readonly<Record<'hit' | 'miss' | 'coalesced', Tally>> {
    const counted = (result: string): Tally => this.#cache({ network, method, result });
    return { hit: counted('hit'), miss: counted('miss'), coalesced: counted('coalesced') };
  }

  compressionResults(): Readonly<Record<CompressionResult, Tally>> {
    const counted = (result: CompressionResult): Tally => this.#compression({ result });
    return { kept: counted('kept'), live: counted('live'), busy: counted('busy') };
  }

  limited(limit: LimitName): void {
    this.#limits.get(limit)?.inc();
  }

  nodeAnswered({ network, node, method }: NodeCall, elapsedMs: number): void {
    const name = `${network} ${node} ${method}`;
    let series = this.#nodeSeries.get(name);
    if (series === undefined) {
      series = this.#nodeDurations({ network, node, method });
      this.#nodeSeries.set(name, series);
    }
    series.observe(elapsedMs / 1_000);
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

  hedged(network: string, method: string): void {
    this.#hedges.inc({ network, method });
  }

  headWentBack(network: string): void {
    this.#headsBack.inc({ network });
  }

  /** Adds the gauge of requests, read when the metrics are asked for. */
  watchInFlight(requests: () => number): void {
    new Gauge({
      name: 'floodgate_gateway_requests_in_flight',
      help: 'Requests whose answers are being made or taken.',
      registers: [this.#registry],
      collect() {
        this.set(requests());
      },
    });
  }

  /** Adds the gauges of all nodes, read when the metrics are asked for. */
  watchNodes(nodesOf: () => ReadonlyMap<string, readonly NodeGauges[]>): void {
    const registers = [this.#registry];
    const labelNames = ['network', 'node'] as const;
    new Gauge({
      name: 'floodgate_upstream_up',
      help: 'Whether a node is healthy (1) or out of rotation (0).',
      labelNames,
      registers,
      collect() {
        for (const [network, nodes] of nodesOf())
          for (const { name, isHealthy } of nodes) this.set({ network, node: name }, isHealthy ? 1 : 0);
      },
    });
    new Gauge({
      name: 'floodgate_upstream_head_block',
      help: 'Latest block of a node.',
      labelNames,
      registers,
      collect() {
        for (const [network, nodes] of nodesOf())
          for (const { name, headBlock } of nodes)
            if (headBlock !== undefined) this.set({ network, node: name }, headBlock);
      },
    });
  }
}

/** A node may make up codes: those outside of the range that JSON-RPC defines or reserves are counted together. */
const labelOf = (code: number): string =>
  (code >= -32768 && code <= -32000) || code === 3 ? String(code) : 'other';
