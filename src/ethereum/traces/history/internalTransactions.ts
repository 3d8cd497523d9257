import { hasFailed } from '../chunk/attributes.ts';
import { blockAt, traceIndexAt } from '../position.ts';
import { readHistory } from './page.ts';
import type {
  HistoryFilter,
  InternalTransaction,
  InternalTransactionsPage,
  InternalTransactionsQuery,
} from './query.ts';
import { type HistoryReader, WorkBudget } from './reader.ts';
import { TraceMatcher } from './traceMatcher.ts';

const INTERNAL: HistoryFilter = {
  kinds: ['call', 'create', 'suicide'],
  internal: true,
  callsCarryValue: true,
};

/** Returns one page of the internal transactions in a range of blocks. */
export function readInternalTransactions(
  reader: HistoryReader,
  query: InternalTransactionsQuery,
): InternalTransactionsPage {
  const { address, skip, ...rest } = query;
  const transactions: InternalTransaction[] = [];
  let found = 0;
  const matcher = new TraceMatcher({}, reader, new WorkBudget());
  const { next, missing } = readHistory(
    reader,
    { ...rest, addresses: address === undefined ? 'all' : [address], filter: INTERNAL },
    (segment, positions) => {
      for (const position of positions) {
        if (found++ < skip) continue;
        const [blockNumber, traceIndex] = [blockAt(segment, position), traceIndexAt(position)];
        transactions.push({
          ...reader.frame(blockNumber, traceIndex),
          blockNumber,
          timestamp: reader.block(blockNumber)?.timestamp ?? 0,
          hasFailed: hasFailed(matcher.attributesOf(blockNumber, traceIndex)),
        });
      }
      return positions.length;
    },
  );
  return { transactions, found, next, missing };
}
