import { hasFailed } from '../chunk/attributes.ts';
import { blockAt, traceIndexAt } from '../position.ts';
import { readHistory } from './page.ts';
import type {
  HistoryFilter,
  InternalTransaction,
  InternalTransactionsPage,
  InternalTransactionsQuery,
} from './query.ts';
import { type HistoryReader, WorkLeft } from './reader.ts';
import { TraceTest } from './traceTest.ts';

const INTERNAL: HistoryFilter = {
  kinds: ['call', 'create', 'suicide'],
  internal: true,
  callsCarryValue: true,
};

/** Internal transactions of a range, as far as one page goes. */
export function readInternalTransactions(
  reader: HistoryReader,
  query: InternalTransactionsQuery,
): InternalTransactionsPage {
  const { address, skip, ...rest } = query;
  const transactions: InternalTransaction[] = [];
  let found = 0;
  const test = new TraceTest({}, reader, new WorkLeft());
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
          hasFailed: hasFailed(test.attributesOf(blockNumber, traceIndex)),
        });
      }
      return positions.length;
    },
  );
  return { transactions, found, next, missing };
}
