import { Counter, Histogram, type Registry } from 'prom-client';
import { RpcError } from '../rpc/index.ts';

/** Seconds: an answer from the index takes a fraction of a millisecond, one that waits for a node up to its time limit. */
const DURATION_BUCKETS_S = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Counts and times calls. Labels are names of our method table and codes of our error table, never a client's text. */
export class GatewayMetrics {
  readonly #durations: Histogram<'method'>;
  readonly #errors: Counter<'method' | 'code'>;

  constructor(registry: Registry) {
    this.#durations = new Histogram({
      name: 'floodgate_gateway_call_duration_seconds',
      help: 'Time from a call to its answer, by method.',
      labelNames: ['method'],
      buckets: DURATION_BUCKETS_S,
      registers: [registry],
    });
    this.#errors = new Counter({
      name: 'floodgate_gateway_call_errors_total',
      help: 'Calls answered with an error, by method and JSON-RPC error code.',
      labelNames: ['method', 'code'],
      registers: [registry],
    });
  }

  /** Carries out a call and counts it. */
  async observe<T>(method: string, call: () => Promise<T> | T): Promise<T> {
    const startNs = process.hrtime.bigint();
    try {
      return await call();
    } catch (error) {
      this.#errors.inc({ method, code: error instanceof RpcError ? labelOf(error.code) : 'fault' });
      throw error;
    } finally {
      this.#durations.observe({ method }, Number(process.hrtime.bigint() - startNs) / 1e9);
    }
  }
}

/** A node may make up codes: those outside of the range that JSON-RPC defines or reserves are counted together. */
const labelOf = (code: number): string =>
  (code >= -32768 && code <= -32000) || code === 3 ? String(code) : 'other';
