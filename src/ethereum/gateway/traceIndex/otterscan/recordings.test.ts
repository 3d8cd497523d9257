import { describe, expect, it } from 'vitest';
import { type Exchange, erigonExchanges } from '../../../../../test/conformance/recorded.ts';
import { precompilesAt } from '../../../traces/convert/index.ts';
import type { FramesQuery } from '../../../traces/index.ts';
import { DEFAULT_LIMITS } from '../../callLimits.ts';
import type { CallContext, NodeCall } from '../../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { type Frame, outputOf } from '../traces/replayed.ts';
import { otsBlockTransactions } from './blockDetails.ts';
import { traceEntries } from './frameEntries.ts';
import { searchTransactions } from './searchTransactions.ts';

type Members = Readonly<Record<string, unknown>>;

const CONTEXT = {
  mayStream: false,
  room: { charge: () => true, credit: () => undefined, freeConnection: () => undefined },
  limits: DEFAULT_LIMITS,
} as CallContext;

/** Newer than all recorded blocks. */
const HEAD = 30_000_000;
const HEAD_BLOCK = { number: HEAD, hash: '0x', parentHash: '0x', timestamp: 0, traceCount: 0 };

/** Returns a call of nodes that have these transactions and receipts. */
const nodeWith =
  (txs: readonly Members[], receipts: readonly Members[], blocks: Members = {}): NodeCall =>
  (method, [first]) => {
    const found =
      method === 'eth_getTransactionByHash'
        ? txs.find(({ hash }) => hash === first)
        : method === 'eth_getTransactionReceipt'
          ? receipts.find(({ transactionHash }) => transactionHash === first)
          : blocks[String(first)];
    return Buffer.from(JSON.stringify(found ?? null));
  };

describe('recorded answers of Erigon', () => {
  const traced = new Map<unknown, readonly Frame[]>();
  for (const { params, result } of erigonExchanges('trace_transaction'))
    if (Array.isArray(result) && result.length > 0) traced.set(params[0], result as Frame[]);

  it('ots_traceTransaction follows from the traces that were recorded of the same transaction', () => {
    let compared = 0;
    for (const { params, result, file } of erigonExchanges('ots_traceTransaction')) {
      const frames = traced.get(params[0]);
      if (frames === undefined) continue;
      const [root] = frames;
      const precompiles = precompilesAt(1, { number: root?.blockNumber ?? 0, timestamp: 1_730_000_000 });
      expect(traceEntries((root && outputOf(root)) ?? '0x', precompiles)(frames), file).toEqual(result);
      compared++;
    }
    expect(compared).toBe(3);
  });

  it.each(['Before', 'After'] as const)('ots_searchTransactions%s has the form and order', async (side) => {
    const recorded = erigonExchanges(`ots_searchTransactions${side}`);
    expect(recorded.length).toBeGreaterThan(4);
    for (const exchange of recorded) {
      const answer = await searched(exchange, side);
      expect(answer, exchange.file).toEqual(exchange.result);
    }
  });

  it('ots_getBlockTransactions has the recorded pages', async () => {
    for (const { file, params, result } of erigonExchanges('ots_getBlockTransactions')) {
      const [number, page, size] = params as [string, number, number];
      const { fullblock, receipts } = result as {
        fullblock: Members & { transactions: Members[]; transactionCount: number };
        receipts: Members[];
      };
      const transactions: unknown[] = Array.from({ length: fullblock.transactionCount }, () => ({}));
      for (const tx of fullblock.transactions) transactions[Number(tx['transactionIndex'])] = tx;
      const { transactionCount: _count, ...block } = fullblock;
      const call = nodeWith([], receipts, { [number]: { ...block, transactions } });
      const handler = otsBlockTransactions({} as IndexServices, call);
      const answer = await handler([number, `0x${page.toString(16)}`, `0x${size.toString(16)}`], CONTEXT);
      expect(JSON.parse(String(answer)), file).toEqual(result);
    }
  });
});

/** Returns the page of an index that has only the recorded transactions, each with one frame. */
async function searched({ params, result }: Exchange, side: 'Before' | 'After'): Promise<unknown> {
  const { txs, receipts, firstPage, lastPage } = result as {
    txs: Members[];
    receipts: Members[];
    firstPage: boolean;
    lastPage: boolean;
  };
  const ascending = receipts.map(({ timestamp, transactionHash, blockHash, blockNumber }) => ({
    timestamp,
    transactionHash,
    blockHash,
    blockNumber: Number(blockNumber),
  }));
  ascending.reverse();
  // Erigon's index has further transactions after the page, unless the page says otherwise.
  const isEnd = side === 'Before' ? lastPage : firstPage;
  const other = { ...ascending[0], transactionHash: 'other', blockNumber: side === 'Before' ? 1 : HEAD };
  const store = {
    head: () => HEAD_BLOCK,
    block: (number: number) => ({
      hash: ascending.find(({ blockNumber }) => blockNumber === number)?.blockHash,
    }),
    frames({ order, limit, cursor }: FramesQuery) {
      const ordered = order === 'asc' ? ascending : ascending.toReversed();
      const all = isEnd ? ordered : [...ordered, other];
      const from = cursor?.traceIndex ?? 0;
      const next = { blockNumber: 0, traceIndex: from + limit };
      return {
        frames: all.slice(from, from + limit),
        missing: [],
        next: from + limit < all.length ? next : undefined,
      };
    },
  };
  const services = { store, indexer: { lastHeads: { latest: HEAD_BLOCK } }, maxAnswerBytes: 1e9 };
  const plain = receipts.map(({ timestamp: _timestamp, ...receipt }) => receipt);
  const handler = searchTransactions(side === 'Before' ? 'before' : 'after')(
    services as unknown as IndexServices, // the handler reads nothing else
    nodeWith(txs, plain),
  );
  const [address, number, size] = params as [string, number, number];
  return JSON.parse(String(await handler([address, number, size], CONTEXT)));
}
