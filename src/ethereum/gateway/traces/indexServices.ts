import type { Indexer } from '../../ingest/index.ts';
import type { TransactionFinder } from '../../nodes/index.ts';
import type { TraceReader } from '../../traces/index.ts';

/** What methods need of whoever writes the index. */
export type IndexFiller = Pick<Indexer, 'lastHeads' | 'freshHeads' | 'ensure'>;

/** What methods need that are answered from the index of a network. */
export interface IndexServices {
  readonly store: TraceReader;
  readonly indexer: IndexFiller;
  /** Where to ask for a transaction that the index does not have. */
  readonly finder: TransactionFinder;
  readonly maxAnswerBytes: number;
}
