import type { Indexer } from '../../ingest/index.ts';
import type { TransactionFinder } from '../../nodes/index.ts';
import type { TraceStore } from '../../traces/index.ts';

/** What methods need that are answered from the index of a network. */
export interface IndexServices {
  readonly store: TraceStore;
  readonly indexer: Indexer;
  /** Where to ask for a transaction that the index does not have. */
  readonly finder: TransactionFinder;
  readonly maxAnswerBytes: number;
}
