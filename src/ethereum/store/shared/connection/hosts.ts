import { setTimeout as pause } from 'node:timers/promises';
import type { ClickHouse } from './clickHouse.ts';
import { TraceStoreUnavailable, UnprovenRead } from './failures.ts';

/** Number of attempts after which no further pass over the hosts starts, if no host returns a result. */
const MAX_ATTEMPTS = 4;
const RETRY_MS = 50;

/** The hosts of a store, which have the same tables. Requests go to one host until it fails. */
export class Hosts {
  readonly #hosts: readonly ClickHouse[];
  #current = 0;

  constructor(hosts: readonly ClickHouse[]) {
    this.#hosts = hosts;
  }

  /**
   * Runs a read or a write on one host after another, until one returns a result. A host that lags may lack a block
   * that another host has, so each host is asked before the result is undefined. If no host proves a result, throws the
   * last UnprovenRead, otherwise the last error. If `isFinal`, each host is asked only once.
   */
  async run<T>(
    task: (host: ClickHouse) => Promise<T>,
    isFinal: (error: UnprovenRead) => boolean = () => false,
  ): Promise<T> {
    // Other calls change the current host. If this call followed them, it could skip a host.
    const hosts = [...this.#hosts.slice(this.#current), ...this.#hosts.slice(0, this.#current)];
    for (let passes = 1; ; passes++) {
      let missing: { readonly result: T } | undefined;
      let failure: TraceStoreUnavailable | undefined;
      for (const host of hosts)
        try {
          const result = await task(host);
          if (result !== undefined) {
            if (host !== hosts[0]) this.#current = this.#hosts.indexOf(host);
            return result;
          }
          missing = { result };
        } catch (error) {
          if (!(error instanceof TraceStoreUnavailable)) throw error;
          if (error instanceof UnprovenRead || !(failure instanceof UnprovenRead)) failure = error;
        }
      const unproven = failure instanceof UnprovenRead ? failure : undefined;
      if (missing !== undefined && unproven === undefined) return missing.result;
      const isLast = passes * hosts.length >= MAX_ATTEMPTS || (unproven && isFinal(unproven));
      if (failure !== undefined && isLast) throw failure;
      await pause(passes * RETRY_MS);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
  }
}
