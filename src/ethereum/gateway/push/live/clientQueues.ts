/** Queues of several clients. Items are taken in rounds: one item of each client, then the next of each. */
export class ClientQueues<T extends object> {
  readonly #queues = new Map<string, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(client: string, item: T): void {
    const queue = this.#queues.get(client);
    if (queue === undefined) this.#queues.set(client, [item]);
    else queue.push(item);
    this.#size++;
  }

  /** Yields all items and removes them. No items may be added before the end. */
  *drain(): Generator<T> {
    for (let round = 0; this.#queues.size > 0; round++)
      for (const [client, queue] of this.#queues) {
        const item = queue[round];
        if (item === undefined) this.#queues.delete(client);
        else yield item;
      }
    this.#size = 0;
  }
}
