import { setTimeout as pause } from 'node:timers/promises';
import type { ClickHouse } from './clickHouse.ts';
import { TraceStoreUnavailable, UnprovenRead } from './failures.ts';

/** Maximum number of times that a read is tried, if no host proves a result. */
const MAX_READS = 4;
const READ_AGAIN_MS = 50;

/** The hosts of a store, which have the same tables. Requests go to one host until it fails. */
export class Hosts {
  readonly #hosts: readonly ClickHouse[];
  #current = 0;

  constructor(hosts: readonly ClickHouse[]) {
    this.#hosts = hosts;
  }

  get current(): ClickHouse {
    const host = this.#hosts[this.#current % this.#hosts.length];
    if (host === undefined) throw new TraceStoreUnavailable('ClickHouse: no host is configured');
    return host;
  }

  /**
   * Runs a read. If the host is unreachable or does not prove a result, runs the read again on the next host. Finally
   * throws the last UnprovenRead, otherwise the last error. If `isFinal`, each host is asked only once.
   */
  async read<T>(
    read: (host: ClickHouse) => Promise<T>,
    isFinal: (error: UnprovenRead) => boolean = () => false,
  ): Promise<T> {
    let unproven: UnprovenRead | undefined;
    for (let reads = 1; ; reads++)
      try {
        return await read(this.current);
      } catch (error) {
        if (!(error instanceof TraceStoreUnavailable)) throw error;
        this.failed();
        if (error instanceof UnprovenRead) unproven = error;
        const isLast = unproven !== undefined && isFinal(unproven);
        if (reads >= Math.max(isLast ? 1 : MAX_READS, this.#hosts.length)) throw unproven ?? error;
        if (reads >= this.#hosts.length) await pause(reads * READ_AGAIN_MS);
      }
  }

  /**
   * Runs a read that returns undefined if a block is missing. A host that lags may lack a block that another host
   * has, so each host is asked before the result is undefined.
   */
  async find<T>(
    read: (host: ClickHouse) => Promise<T>,
    isFinal?: (error: UnprovenRead) => boolean,
  ): Promise<T> {
    for (let left = this.#hosts.length; ; left--) {
      const found = await this.read(read, isFinal);
      if (found !== undefined || left <= 1) return found;
      this.failed();
    }
  }

  /** Uses the next host from now on. */
  failed(): void {
    this.#current = (this.#current + 1) % this.#hosts.length;
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
  }
}
