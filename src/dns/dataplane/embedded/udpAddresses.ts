/** Where a listener answers over UDP: at its address, or, of a wildcard, at each address of the host, as they come and go. */
import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import { hostAddresses, isWildcard, MAX_HOST_ADDRESSES } from './hostAddresses.ts';
import type { UdpRelay } from './udpRelay.ts';

/** How soon a new address of the host is answered at. */
const FOLLOW_MS = 2000;

export interface UdpAddressesDependencies {
  readonly udp: UdpRelay;
  readonly log: Log;
}

const MAX_FRONTENDS = 65_536;

/** Numbers of frontends that are free, for all listeners together: the one that was free longest, as answers may be on their way. */
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
  /** The frontends by their hosts. */
  readonly #listening = new Map<string, number>();
  /** Hosts that cannot be listened on now, as told in the log. */
  readonly #failed = new Set<string>();
  #followedMs = 0;
  #following: Promise<void> = Promise.resolve();
  #isFollowing = false;

  constructor(address: ServerAddress, numbers: FrontendNumbers, dependencies: UdpAddressesDependencies) {
    this.#address = address;
    this.#numbers = numbers;
    this.#dependencies = dependencies;
  }

  /** Rejects where an address cannot be listened on; what came before it is let go of. */
  async start(): Promise<void> {
    const { host } = this.#address;
    const isAll = isWildcard(host);
    const hosts = isAll ? hostAddresses(host) : [host];
    if (hosts.length > MAX_HOST_ADDRESSES)
      throw new Error(
        `${host} stands for ${hosts.length} addresses of this host, and ${MAX_HOST_ADDRESSES} are the most: name those that are meant`,
      );
    try {
      for (const address of hosts)
        await this.#listen(address).catch((error: NodeJS.ErrnoException) => {
          // One that came a moment ago, or has just gone: the next look tells.
          if (!isAll || error.code !== 'EADDRNOTAVAIL') throw error;
        });
    } catch (error) {
      for (const address of [...this.#listening.keys()]) await this.#leave(address);
      throw error;
    }
  }

  /** Call it every second. */
  follow(nowMs: number): void {
    if (!isWildcard(this.#address.host) || this.#isFollowing || nowMs - this.#followedMs < FOLLOW_MS) return;
    this.#followedMs = nowMs;
    this.#isFollowing = true;
    this.#following = this.#followNow().finally(() => {
      this.#isFollowing = false;
    });
  }

  /** Resolves when nothing is being changed any more. */
  async settled(): Promise<void> {
    this.#followedMs = Number.POSITIVE_INFINITY;
    await this.#following;
  }

  async #followNow(): Promise<void> {
    const { log } = this.#dependencies;
    const wanted = this.#wanted();
    for (const host of [...this.#listening.keys()]) if (!wanted.includes(host)) await this.#leave(host);
    for (const host of this.#failed) if (!wanted.includes(host)) this.#failed.delete(host);
    for (const host of wanted) {
      if (this.#listening.has(host)) continue;
      try {
        await this.#listen(host);
        this.#failed.delete(host);
        log.info({ address: host }, 'the host has a new address: DNS is answered there, too');
      } catch (error) {
        // A new address of IPv6 takes a moment until it can be used.
        if (!this.#failed.has(host))
          log.warn(
            { address: host, reason: String(error) },
            'DNS cannot be answered at an address of the host',
          );
        this.#failed.add(host);
      }
    }
  }

  #wanted(): readonly string[] {
    return hostAddresses(this.#address.host).slice(0, MAX_HOST_ADDRESSES);
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
    await this.#dependencies.udp.leave(number);
    this.#numbers.free(number);
  }
}
