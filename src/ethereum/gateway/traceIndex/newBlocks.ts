import { accountsOf, type BudgetClient } from '../../../platform/budgets/index.ts';
import type { BlockMeter } from '../../ingest/index.ts';
import { RateLimitedError } from '../../jsonrpc/index.ts';
import { MAX_RANGE_BLOCKS } from '../../traces/index.ts';
import { RateLimits } from '../http/limits/rateLimits.ts';

/** Blocks that one client may have indexed at once: two full ranges. */
const MAX_NEW_BLOCKS = 2 * MAX_RANGE_BLOCKS;
const NEW_BLOCKS_PER_SECOND = 20;

/**
 * Limits the blocks that are fetched from nodes and indexed because a client requested them. Only one process fetches
 * blocks, so the limit covers the requests to all workers.
 */
export class NewBlocks {
  readonly #rates = new RateLimits({ burstSeconds: MAX_NEW_BLOCKS / NEW_BLOCKS_PER_SECOND });
  readonly #limited: () => void;

  /** `limited` is called for each rejected request. */
  constructor(limited: () => void = () => undefined) {
    this.#limited = limited;
  }

  /** Returns the meter of a client. It throws RateLimitedError. */
  meterOf(client: BudgetClient): BlockMeter {
    return {
      charge: (blocks) => this.#charge(client, blocks),
      refund: (blocks) => {
        for (const { name } of accountsOf(client)) this.#rates.refund(name, blocks);
      },
    };
  }

  #charge(client: BudgetClient, blocks: number): void {
    const charged: string[] = [];
    for (const { name, shares } of accountsOf(client)) {
      const waitSeconds = this.#rates.take(name, shares * NEW_BLOCKS_PER_SECOND, blocks);
      if (waitSeconds === 0) {
        charged.push(name);
        continue;
      }
      for (const other of charged) this.#rates.refund(other, blocks);
      this.#limited();
      const [limit, requested] = [shares * MAX_NEW_BLOCKS, blocks];
      const seconds = Math.ceil(waitSeconds);
      throw new RateLimitedError(
        `${blocks} blocks of the range are not indexed yet: one client may have at most ${limit} new blocks indexed at ` +
          `once, and ${shares * NEW_BLOCKS_PER_SECOND} more per second; try again in ${seconds} s`,
        waitSeconds,
        { limit, requested, retryAfterSeconds: seconds },
      );
    }
  }
}
