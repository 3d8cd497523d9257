import { Budget } from '../../../../platform/budgets/index.ts';
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

export interface FilterMemoryOptions {
  /** Number of processes that divide the total limit. Default: 1. */
  readonly processes?: number;
  /** Called each time a limit is reached. */
  readonly refused?: () => void;
}

/** Limits the memory of HTTP filters and subscriptions. Sizes are in bytes as computed by `filterBytes.ts`. */
export class FilterMemory {
  readonly #budget: Budget;
  readonly #refused: () => void;

  constructor({ processes = 1, refused = () => undefined }: FilterMemoryOptions = {}) {
    const total = Math.floor(LIMITS.total / processes);
    this.#budget = new Budget({ perClient: Math.min(LIMITS.perClient, total), total });
    this.#refused = refused;
  }

  get bytes(): number {
    return this.#budget.total;
  }

  /** Reserves bytes for a client address. Throws RpcError above the limit per address or in total. */
  take(address: string, bytes: number): Release {
    const client = { address };
    const bound = this.#budget.exceededBy(client, bytes);
    if (bound !== undefined) {
      this.#refused();
      const { total, share } = this.#budget;
      const [used, limit] =
        bound === 'total' ? [total, this.#budget.limits.total] : [this.#budget.usedBy(client), share];
      throw overLimit(WHAT[bound], limit, used + bytes);
    }
    this.#budget.charge(client, bytes);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#budget.release(client, bytes);
    };
  }
}
