import {
  Budget,
  type BudgetClient,
  type BudgetLimits,
  type Excess,
} from '../../../../platform/budgets/index.ts';
import { RpcError } from '../../../jsonrpc/index.ts';

/** Releases what was taken from a quota. Only the first call has an effect. */
export type Release = () => void;

export interface QuotaText {
  /** Name of the resource, in the plural. */
  readonly what: string;
  /** Advice for a client that exceeds its limit. */
  readonly remedy: string;
}

const WHOSE: Readonly<Record<Excess['of'], string>> = {
  address: 'of one address',
  network: 'of the addresses of one network',
  key: 'of one API key',
  all: 'of all clients',
};

/** Limits a resource, such as connections or memory, for each client and for all clients. */
export class Quota {
  readonly #text: QuotaText;
  readonly #budget: Budget;
  readonly #refused: () => void;

  /** `refused` is called each time a limit is reached. */
  constructor(text: QuotaText, limits: BudgetLimits, refused: () => void = () => undefined) {
    this.#text = text;
    this.#budget = new Budget(limits);
    this.#refused = refused;
  }

  get total(): number {
    return this.#budget.total;
  }

  /** Takes an amount for a client. Throws RpcError if a limit would be exceeded. */
  take(client: BudgetClient, amount = 1): Release {
    const excess = this.#budget.excessOf(client, amount);
    if (excess !== undefined) {
      this.#refused();
      throw this.#errorOf(excess);
    }
    this.#budget.charge(client, amount);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#budget.release(client, amount);
    };
  }

  #errorOf({ of, limit: share, requested }: Excess): RpcError {
    const { what, remedy } = this.#text;
    const limit = Math.floor(share);
    return new RpcError(
      'limitExceeded',
      `${what} ${WHOSE[of]}: at most ${limit}, requested ${requested}; ${remedy}`,
      { limit, requested },
    );
  }
}

/** Takes from several quotas for a client. Takes from none of them if one throws. */
export function takeAll(client: BudgetClient, wanted: readonly (readonly [Quota, number])[]): Release {
  const releases: Release[] = [];
  const release: Release = () => {
    for (const one of releases) one();
  };
  try {
    for (const [quota, amount] of wanted) releases.push(quota.take(client, amount));
  } catch (error) {
    release();
    throw error;
  }
  return release;
}
