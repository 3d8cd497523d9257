import { Latencies } from './latencies.ts';

/** A read is sent to a second node when it takes longer than this share of recent ones did. */
const HEDGE_QUANTILE = 0.95;
/** Below, a second request costs more than it saves. */
const MIN_HEDGE_MS = 20;
/** Where nothing is known of a method yet, and at most. */
const MAX_HEDGE_MS = 1_000;

/** How long a read may take before it is sent to a second node, by its method. */
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
