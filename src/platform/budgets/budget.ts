export interface BudgetLimits {
  readonly perClient: number;
  readonly total: number;
}

type Bound = keyof BudgetLimits;

/** Counts the use of one resource, such as memory, with a limit per client and a limit for all clients together. */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #used = new Map<string, number>();
  #total = 0;

  constructor(limits: BudgetLimits) {
    this.limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  usedBy(client: string): number {
    return this.#used.get(client) ?? 0;
  }

  /** Returns the limit that `amount` more would exceed; undefined if it would exceed neither. */
  exceededBy(client: string, amount: number): Bound | undefined {
    const { perClient, total } = this.limits;
    if (this.usedBy(client) + amount > perClient) return 'perClient';
    return this.#total + amount > total ? 'total' : undefined;
  }

  /** Adds `amount` to the use of a client, even above the limits. */
  charge(client: string, amount: number): void {
    this.#set(client, this.usedBy(client) + amount);
    this.#total += amount;
  }

  release(client: string, amount: number): void {
    this.charge(client, -amount);
  }

  #set(client: string, used: number): void {
    if (used === 0) this.#used.delete(client);
    else this.#used.set(client, used);
  }
}
