import type { Indexer } from '../../ingest/index.ts';
import type { TransactionFinder } from '../../nodes/index.ts';
import type { TraceStore } from '../../traces/index.ts';

/** What the methods need that answer with traces of one block or transaction. */
export interface TraceMethodOptions {
  readonly store: TraceStore;
  readonly indexer: Indexer;
  /** Where to ask for a transaction that the index does not have. */
  readonly finder: TransactionFinder;
  readonly maxAnswerBytes: number;
}
