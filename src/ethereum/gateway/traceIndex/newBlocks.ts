import { accountsOf, type BudgetClient } from '../../../platform/budgets/index.ts';
import { Scheduler } from '../../../platform/scheduler/index.ts';
import type { BlockMeter } from '../../ingest/index.ts';
import { RateLimitedError } from '../../jsonrpc/index.ts';
import { RateLimits } from '../http/limits/rateLimits.ts';

/** Ranges of trace_filter that one client may have indexed at once. */
const RANGES_AT_ONCE = 2;
const NEW_BLOCKS_PER_SECOND = 20;
/** Processor time for a block from the node's responses to the transaction of the index, and for each of its traces. */
const MS_PER_BLOCK = 0.5;
const MS_PER_TRACE = 0.02;

export interface NewBlocksDependencies {
  /** Divides the processor time among clients. Default: a new scheduler. */
  readonly scheduler?: Scheduler;
  /** Called for each rejected request. */
  readonly limited?: () => void;
}

/**
 * Limits the blocks that are fetched from nodes and indexed because a client requested them, and divides the processor
 * time for them. Only one process fetches blocks, so the limit covers the requests to all workers.
 */
export class NewBlocks {
  readonly #maxBlocks: number;
  readonly #rates: RateLimits;
  readonly #scheduler: Scheduler;
  readonly #limited: () => void;

  /** `rangeBlocks`: `gateway.limits.traceFilterBlocks`. */
  constructor(rangeBlocks: number, { scheduler, limited }: NewBlocksDependencies = {}) {
    this.#maxBlocks = RANGES_AT_ONCE * rangeBlocks;
    this.#rates = new RateLimits({ burstSeconds: this.#maxBlocks / NEW_BLOCKS_PER_SECOND });
    this.#scheduler = scheduler ?? new Scheduler();
    this.#limited = limited ?? (() => undefined);
  }

  /** Returns the meter of a client. It throws RateLimitedError. */
  meterOf(client: BudgetClient): BlockMeter {
    return {
      charge: (blocks) => this.#charge(client, blocks),
      refund: (blocks) => {
        for (const { name } of accountsOf(client)) this.#rates.refund(name, blocks);
      },
      turn: () => this.#scheduler.turn(client),
      fetched: (traces) => this.#scheduler.charge(client, MS_PER_BLOCK + MS_PER_TRACE * traces),
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
      const [limit, requested] = [shares * this.#maxBlocks, blocks];
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
