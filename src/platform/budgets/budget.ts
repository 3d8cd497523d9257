import { widerNetworks } from '../addresses/index.ts';

/** A client of a budget. Its address and its API key count separately. */
export interface BudgetClient {
  /** Key of the address from `clientKey`: an IPv4 address or an IPv6 /64 network. */
  readonly address: string;
  readonly keyId?: string | undefined;
}

export interface BudgetLimits {
  /** Limit for all clients together. */
  readonly total: number;
  /** Largest amount that one client may use. */
  readonly perClient: number;
  /** Largest amount that one API key may use, from any number of addresses. Default: `perClient`. */
  readonly perKey?: number;
  /** Part of what is free that one client may use, so that shares shrink as the budget fills up. Default: no bound. */
  readonly partOfFree?: number;
  /** A client may use this amount whatever other clients use, while the total is not reached. Default: 0. */
  readonly minShare?: number;
}

/** A limit of a budget: the share of one client, or the total of all clients. */
export type BudgetBound = 'perClient' | 'total';

/** A client's account: its address, an IPv6 /56 or /48 network of its address, or its API key. */
type AccountKind = 'address' | 'network' | 'key';

/** A limit that would be exceeded: that of an account, or that of all clients. */
export interface Excess {
  readonly of: AccountKind | 'all';
  readonly limit: number;
  readonly requested: number;
}

/** A name under which use is counted, and the number of shares that it has. */
export interface Account {
  readonly kind: AccountKind;
  readonly name: string;
  readonly shares: number;
}

/**
 * Counts the use of one resource, such as memory. A client may use its share: at most `perClient` and `partOfFree` of
 * what is free, but at least `minShare`. Addresses of an IPv6 /56 together have two shares, those of a /48 four.
 */
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

  usedBy({ address }: Pick<BudgetClient, 'address'>): number {
    return this.#used.get(address) ?? 0;
  }

  /** Amount that one client may use now, including its present use. */
  get share(): number {
    return this.#shareBelow(this.limits.perClient);
  }

  /** Returns the limit that `amount` more would exceed; undefined if it would exceed neither. */
  exceededBy(client: BudgetClient, amount: number): BudgetBound | undefined {
    const excess = this.excessOf(client, amount);
    return excess && (excess.of === 'all' ? 'total' : 'perClient');
  }

  /** Returns the details of the limit that `amount` more would exceed; undefined if it would exceed none. */
  excessOf(client: BudgetClient, amount: number): Excess | undefined {
    const { total, perClient, perKey = perClient } = this.limits;
    for (const { kind, name, shares } of accountsOf(client)) {
      const limit = shares * this.#shareBelow(kind === 'key' ? perKey : perClient);
      const requested = (this.#used.get(name) ?? 0) + amount;
      if (requested > limit) return { of: kind, limit, requested };
    }
    const requested = this.#total + amount;
    return requested > total ? { of: 'all', limit: total, requested } : undefined;
  }

  #shareBelow(most: number): number {
    const { total, partOfFree, minShare = 0 } = this.limits;
    if (partOfFree === undefined) return most;
    return Math.max(minShare, Math.min(most, partOfFree * (total - this.#total)));
  }

  /** Adds `amount` to the use of a client, even above the limits. */
  charge(client: BudgetClient, amount: number): void {
    for (const { name } of accountsOf(client)) {
      const used = (this.#used.get(name) ?? 0) + amount;
      if (used === 0) this.#used.delete(name);
      else this.#used.set(name, used);
    }
    this.#total += amount;
  }

  release(client: BudgetClient, amount: number): void {
    this.charge(client, -amount);
  }

  /** Use of a client in shares: that of its key, its address or a network of its address, whichever is greatest. */
  weightOf(client: BudgetClient): number {
    return Math.max(...accountsOf(client).map(({ name, shares }) => (this.#used.get(name) ?? 0) / shares));
  }
}

/** Returns the names under which the use of a client is counted: its address, wider networks, and its key. */
export function accountsOf({ address, keyId }: BudgetClient): Account[] {
  const accounts: Account[] = [{ kind: 'address', name: address, shares: 1 }];
  for (const [i, name] of widerNetworks(address).entries())
    accounts.push({ kind: 'network', name, shares: 2 ** (i + 1) });
  if (keyId !== undefined) accounts.push({ kind: 'key', name: `key ${keyId}`, shares: 1 });
  return accounts;
}

/** Returns the name under which a client is served: the id of its API key, or its address if it has no key. */
export const clientName = ({ address, keyId }: BudgetClient): string =>
  keyId === undefined ? address : `key ${keyId}`;
