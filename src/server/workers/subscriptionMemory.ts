/** Workers hold WebSocket subscriptions. The first process counts their memory and that of filters together. */
import { type FilterMemory, type OwnFilterMemory, once, type Release } from '../../ethereum/gateway/index.ts';
import type { SubscriptionBytes } from './calls.ts';
import type { ToPrimary } from './followNetwork.ts';

/** Used in a worker: has the first process count the memory of the worker's subscriptions. */
export class RemoteFilterMemory implements FilterMemory {
  readonly #primary: Pick<ToPrimary, 'ask' | 'tell'>;

  constructor(primary: Pick<ToPrimary, 'ask' | 'tell'>) {
    this.#primary = primary;
  }

  async take(address: string, bytes: number): Promise<Release> {
    await this.#primary.ask('takeFilterBytes', { address, bytes });
    return once(() => this.#primary.tell('giveFilterBytes', { address, bytes }));
  }
}

/** Used in the first process: counts the memory of one worker's subscriptions. */
export class MemoryOfWorker {
  readonly #memory: OwnFilterMemory;
  readonly #taken = new Map<string, number>();

  constructor(memory: OwnFilterMemory) {
    this.#memory = memory;
  }

  /** Counts memory of a subscription. Throws RpcError if a memory limit is reached. */
  take({ address, bytes }: SubscriptionBytes): void {
    this.#memory.take(address, bytes);
    this.#taken.set(address, (this.#taken.get(address) ?? 0) + bytes);
  }

  give({ address, bytes }: SubscriptionBytes): void {
    this.#memory.give(address, bytes);
    const left = (this.#taken.get(address) ?? 0) - bytes;
    if (left === 0) this.#taken.delete(address);
    else this.#taken.set(address, left);
  }

  /** Releases all memory of a worker that ended. */
  giveAll(): void {
    for (const [address, bytes] of this.#taken) this.#memory.give(address, bytes);
    this.#taken.clear();
  }
}
