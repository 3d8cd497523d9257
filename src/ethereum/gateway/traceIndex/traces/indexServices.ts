import type { Indexer } from '../../../ingest/index.ts';
import type { BlockFinder, TransactionFinder } from '../../../nodes/index.ts';
import type { TraceReader } from '../../../traces/index.ts';

export type IndexFiller = Pick<Indexer, 'lastHeads' | 'freshHeads' | 'ensure'>;

export interface IndexServices {
  readonly store: TraceReader;
  readonly indexer: IndexFiller;
  /** Queries the nodes for transactions that are not in the index, and for blocks by hash. */
  readonly finder: TransactionFinder & BlockFinder;
  readonly maxAnswerBytes: number;
}
