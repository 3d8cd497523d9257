import type { BudgetClient } from '../../../../platform/budgets/index.ts';
import type { Indexer } from '../../../ingest/index.ts';
import type { BlockFinder, TraceProvider, TransactionFinder } from '../../../nodes/index.ts';
import type { MaybePromise, TraceReader } from '../../../traces/index.ts';
import type { CallContext } from '../../method.ts';

export interface IndexFiller extends Pick<Indexer, 'lastHeads' | 'freshHeads'> {
  /**
   * Fetches the missing blocks of a range for a client. Throws BlockUnavailableError, NoSpaceError, and RateLimitedError
   * if the client has too many blocks fetched.
   */
  ensure(fromBlock: number, toBlock: number, client: BudgetClient): Promise<void>;
  /** Counts blocks that are fetched for a client, but not stored. Throws RateLimitedError. */
  charge(blocks: number, client: BudgetClient): MaybePromise<void>;
}

/** The part of the context of a call that identifies the client. */
export type Caller = Pick<CallContext, 'address' | 'keyId' | 'nextTurn'>;

/** A caller with the limits of its calls. */
export type LimitedCaller = Caller & Pick<CallContext, 'limits'>;

export interface IndexServices {
  readonly store: TraceReader;
  readonly indexer: IndexFiller;
  /** Queries the nodes for transactions that are not in the index, for blocks by hash, and for their traces. */
  readonly finder: TransactionFinder & BlockFinder & Pick<TraceProvider, 'block'>;
  readonly maxAnswerBytes: number;
}
