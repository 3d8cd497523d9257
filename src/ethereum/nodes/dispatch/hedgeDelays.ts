import { Latencies } from './latencies.ts';

/** Quantile of a method's recent latencies that is its hedge delay. */
const HEDGE_QUANTILE = 0.95;
/** Minimum hedge delay. After a shorter one, a second request costs more than it saves. */
const MIN_HEDGE_MS = 20;
/** Maximum hedge delay, which also applies to a method with too few known latencies. */
const MAX_HEDGE_MS = 1_000;

/** Hedge delay of each JSON-RPC method: the time without a response after which a read is sent to a second node. */
export class HedgeDelays {
  readonly #latencies = new Map<string, Latencies>();

  answered(method: string, elapsedMs: number): void {
    this.#latenciesOf(method).add(elapsedMs);
  }

  delayMs(method: string): number {
    const usual = this.#latenciesOf(method).quantile(HEDGE_QUANTILE) ?? MAX_HEDGE_MS;
    return Math.min(MAX_HEDGE_MS, Math.max(MIN_HEDGE_MS, usual));
  }

  #latenciesOf(method: string): Latencies {
    let latencies = this.#latencies.get(method);
    if (latencies === undefined) {
      latencies = new Latencies();
      this.#latencies.set(method, latencies);
    }
    return latencies;
  }
}
