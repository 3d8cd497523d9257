/**
 * Time for which the node that accepted a transaction is asked first, in milliseconds. Other nodes usually have the
 * transaction after a few seconds.
 */
const KEPT_MS = 60_000;
/** Maximum number of hashes and senders. Above it, the oldest are evicted. Each costs a valid transaction. */
const MAX_ENTRIES = 20_000;

export interface AcceptedTransaction {
  readonly hash: string;
  /** Undefined if the signature is not valid. */
  readonly sender: string | undefined;
  /** Index of the node that accepted the transaction, in the configuration. */
  readonly node: number;
}

interface Accepted {
  readonly node: number;
  readonly untilMs: number;
  /** Distinguishes requests before and after a transaction, because they must not share a result. */
  readonly serial: number;
}

/** Nodes that accepted transactions in the last minute, by the hash and by the sender of the transaction. */
export class AcceptedTransactions {
  readonly #accepted = new Map<string, Accepted>();
  readonly #nowMs: () => number;
  #serial = 0;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#accepted.size;
  }

  add({ hash, sender, node }: AcceptedTransaction): void {
    const nowMs = this.#nowMs();
    const accepted = { node, untilMs: nowMs + KEPT_MS, serial: ++this.#serial };
    for (const key of [hash, ...(sender === undefined ? [] : [sender])]) {
      // A map keeps the order of insertion, so the first entries expire first.
      this.#accepted.delete(key);
      this.#accepted.set(key, accepted);
    }
    for (const [key, { untilMs }] of this.#accepted) {
      if (untilMs > nowMs && this.#accepted.size <= MAX_ENTRIES) return;
      this.#accepted.delete(key);
    }
  }

  /** Returns the node that accepted the transaction with this hash, or the latest transaction of this sender. */
  get(hashOrSender: string): Accepted | undefined {
    const accepted = this.#accepted.get(hashOrSender);
    return accepted !== undefined && accepted.untilMs > this.#nowMs() ? accepted : undefined;
  }
}
