/** UDP addresses of a configured listen address: this address, or for a wildcard all addresses of the host. */

import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import { failureReporter } from '../../../../platform/background/index.ts';
import type { Log } from '../../../../platform/logging/index.ts';
import { hostAddresses, isWildcard, MAX_HOST_ADDRESSES } from './hostAddresses.ts';
import type { UdpRelay } from './udpRelay.ts';

const FOLLOW_MS = 2000;

export interface UdpAddressesDependencies {
  readonly udp: UdpRelay;
  readonly log: Log;
}

const MAX_FRONTENDS = 65_536;

/**
 * Numbers that identify the frontends. A pending query contains the number of its frontend, so a freed number is
 * reused as late as possible.
 */
export class FrontendNumbers {
  readonly #taken = new Set<number>();
  #next = 0;

  take(): number {
    while (this.#taken.has(this.#next)) this.#next = (this.#next + 1) % MAX_FRONTENDS;
    const number = this.#next;
    this.#taken.add(number);
    this.#next = (number + 1) % MAX_FRONTENDS;
    return number;
  }

  free(number: number): void {
    this.#taken.delete(number);
  }
}

export class UdpAddresses {
  readonly #address: ServerAddress;
  readonly #numbers: FrontendNumbers;
  readonly #dependencies: UdpAddressesDependencies;
  readonly #listening = new Map<string, number>();
  readonly #failed = new Set<string>();
  #followedMs = 0;
  #following: Promise<void> | undefined;
  /** True if the addresses of the host could not be read at the last attempt. */
  #isUnread = false;

  constructor(address: ServerAddress, numbers: FrontendNumbers, dependencies: UdpAddressesDependencies) {
    this.#address = address;
    this.#numbers = numbers;
    this.#dependencies = dependencies;
  }

  /** Starts to listen. If one address cannot be bound, closes the sockets of the others and rejects. */
  async start(): Promise<void> {
    const { host } = this.#address;
    const isAll = isWildcard(host);
    const hosts = isAll ? hostAddresses(host) : [host];
    if (hosts.length > MAX_HOST_ADDRESSES)
      throw new Error(
        `${host} covers ${hosts.length} addresses of this host, at most ${MAX_HOST_ADDRESSES} are allowed: list the addresses to use in dns.listen`,
      );
    try {
      for (const address of hosts)
        await this.#listen(address).catch((error: NodeJS.ErrnoException) => {
          // The address was just added to the host or removed from it. The next `refresh` handles the change.
          if (!isAll || error.code !== 'EADDRNOTAVAIL') throw error;
        });
    } catch (error) {
      for (const address of [...this.#listening.keys()]) await this.#leave(address);
      throw error;
    }
  }

  /** For a wildcard, adapts the sockets if the addresses of the host have changed. Called every second. */
  refresh(nowMs: number): void {
    if (
      !isWildcard(this.#address.host) ||
      this.#following !== undefined ||
      nowMs - this.#followedMs < FOLLOW_MS
    )
      return;
    this.#followedMs = nowMs;
    this.#following = this.#followNow()
      .catch(failureReporter('addresses of the host'))
      .finally(() => {
        this.#following = undefined;
      });
  }

  /** Ends the checks for changed addresses of the host. Resolves when no change is in progress. */
  async settled(): Promise<void> {
    this.#followedMs = Number.POSITIVE_INFINITY;
    await this.#following;
  }

  async #followNow(): Promise<void> {
    const { log } = this.#dependencies;
    const wanted = this.#wanted();
    if (wanted === undefined) return;
    for (const host of [...this.#listening.keys()]) if (!wanted.includes(host)) await this.#leave(host);
    for (const host of this.#failed) if (!wanted.includes(host)) this.#failed.delete(host);
    for (const host of wanted) {
      if (this.#listening.has(host)) continue;
      try {
        await this.#listen(host);
        this.#failed.delete(host);
        log.info({ address: host }, 'serving DNS on a new address of the host');
      } catch (error) {
        // A new IPv6 address can be bound only after duplicate address detection. The next check tries again.
        if (!this.#failed.has(host))
          log.warn({ address: host, reason: String(error) }, 'cannot serve DNS on an address of the host');
        this.#failed.add(host);
      }
    }
  }

  /** Returns the addresses of the host. Undefined if they cannot be read, e.g. for lack of file descriptors. */
  #wanted(): readonly string[] | undefined {
    try {
      const wanted = hostAddresses(this.#address.host).slice(0, MAX_HOST_ADDRESSES);
      this.#isUnread = false;
      return wanted;
    } catch (error) {
      if (!this.#isUnread)
        this.#dependencies.log.warn(
          { reason: String(error) },
          'cannot read the addresses of the host; serving DNS on the known ones',
        );
      this.#isUnread = true;
      return undefined;
    }
  }

  async #listen(host: string): Promise<void> {
    const number = this.#numbers.take();
    try {
      await this.#dependencies.udp.listen(number, { host, port: this.#address.port });
    } catch (error) {
      this.#numbers.free(number);
      throw error;
    }
    this.#listening.set(host, number);
  }

  async #leave(host: string): Promise<void> {
    const number = this.#listening.get(host);
    if (number === undefined) return;
    this.#listening.delete(host);
    await this.#dependencies.udp.unlisten(number);
    this.#numbers.free(number);
  }
}
