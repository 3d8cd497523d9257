import { overLimit } from '../../jsonrpc/index.ts';

export interface Holder {
  readonly address: string;
  readonly keyId: string | undefined;
}

export interface QuotaLimits {
  readonly perAddress: number;
  readonly perKey: number;
  /** Maximum number of open resources of all clients together. Default: unlimited. */
  readonly total?: number;
}

/** Limits the number of open resources, such as connections, per client address and per API key. */
export class Quotas {
  readonly #what: string;
  readonly #limits: QuotaLimits;
  readonly #counts = new Map<string, number>();
  #total = 0;

  constructor(what: string, limits: QuotaLimits) {
    this.#what = what;
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /**
   * Counts one more open resource of a client. Returns a function that releases it; only its first call has an effect.
   * Throws RpcError if a limit would be exceeded.
   */
  take({ address, keyId }: Holder): () => void {
    const { perAddress, perKey, total = Number.POSITIVE_INFINITY } = this.#limits;
    if (this.#total >= total) throw overLimit(`${this.#what} of all clients`, total, total + 1);
    this.#check(`address ${address}`, perAddress, 'of one address');
    if (keyId !== undefined) this.#check(`key ${keyId}`, perKey, 'of one API key');
    const names = [`address ${address}`, ...(keyId === undefined ? [] : [`key ${keyId}`])];
    for (const name of names) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    this.#total++;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#total--;
      for (const name of names) this.#giveBack(name);
    };
  }

  #check(name: string, limit: number, whose: string): void {
    const count = this.#counts.get(name) ?? 0;
    if (count >= limit) throw overLimit(`${this.#what} ${whose}`, limit, count + 1);
  }

  #giveBack(name: string): void {
    const left = (this.#counts.get(name) ?? 0) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
}
