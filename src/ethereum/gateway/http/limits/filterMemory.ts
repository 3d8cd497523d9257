import { Budget, type BudgetLimits } from '../../../../platform/budgets/index.ts';
import { overLimit } from '../../../jsonrpc/index.ts';

const MIB = 1024 * 1024;
/** Memory limits for filters and subscriptions, in bytes. The total is far below the heap size of a small machine. */
const LIMITS = { perClient: MIB, total: 64 * MIB };
const WHAT = {
  perClient: 'bytes of filters and subscriptions of one client',
  total: 'bytes of filters and subscriptions of all clients',
};

/** Releases the reserved bytes. Only the first call has an effect. */
export type Release = () => void;

/** Limits the memory of HTTP filters and subscriptions. Sizes are in bytes as computed by `filterBytes.ts`. */
export interface FilterMemory {
  /** Reserves bytes for a client address. Throws or rejects with RpcError above the limit per address or in total. */
  take(address: string, bytes: number): Release | Promise<Release>;
}

export interface OwnFilterMemoryOptions {
  readonly limits?: BudgetLimits;
  readonly refused?: () => void;
}

/** Memory budget for filters and subscriptions. In the first process, it is the budget of all worker processes. */
export class OwnFilterMemory implements FilterMemory {
  readonly #budget: Budget;
  readonly #refused: () => void;

  /** `refused` is called each time a limit is reached. */
  constructor({ limits = LIMITS, refused = () => undefined }: OwnFilterMemoryOptions = {}) {
    this.#budget = new Budget(limits);
    this.#refused = refused;
  }

  get bytes(): number {
    return this.#budget.total;
  }

  take(address: string, bytes: number): Release {
    const bound = this.#budget.exceededBy(address, bytes);
    if (bound !== undefined) {
      this.#refused();
      const used = bound === 'total' ? this.#budget.total : this.#budget.usedBy(address);
      throw overLimit(WHAT[bound], this.#budget.limits[bound], used + bytes);
    }
    this.#budget.charge(address, bytes);
    return once(() => this.give(address, bytes));
  }

  give(address: string, bytes: number): void {
    this.#budget.release(address, bytes);
  }
}

export function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}
