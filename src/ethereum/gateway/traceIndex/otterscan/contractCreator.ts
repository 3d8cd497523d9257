import { type Address, type HistoryFilter, historyFrameOf } from '../../../traces/index.ts';
import type { Handler, NodeCall } from '../../method.ts';
import { chainRange, fetchNewest } from '../explorer/blockRange.ts';
import { onOneFork } from '../history/onOneFork.ts';
import { storeFor } from '../traceFilter/fromNodes.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { codeKind, NULL } from './accountCode.ts';
import { checkSearched, framePages } from './findTransactions.ts';

/** Creations that were not reverted, neither by themselves nor by a frame above them. */
const CREATIONS: HistoryFilter = { kinds: ['create'], failed: false };

/**
 * Returns the handler of ots_getContractCreator. Its result is the newest creation of a contract, or null if the
 * account has no code or was created in the genesis block.
 */
export const otsContractCreator =
  (services: IndexServices, call: NodeCall): Handler =>
  ([address], context) =>
    onOneFork(async () => {
      const range = await chainRange(services, { startBlock: 1, endBlock: undefined });
      if ((await codeKind(call, [address, range.toBlock], context)) === 'none') return NULL;
      if (range.fromBlock > range.toBlock) return NULL;
      await fetchNewest(services, range, context);
      const whose = { address: address as Address, direction: 'to', order: 'desc' } as const; // validated by the parameter type
      const { nextTurn } = context;
      const frames = { store: storeFor(services, context), nextTurn, decode: historyFrameOf };
      for await (const page of framePages(frames, { ...range, ...whose, filter: CREATIONS }, 1)) {
        const [creation] = page.frames;
        checkSearched(page, 'desc', creation?.blockNumber);
        if (creation === undefined) continue;
        const { transactionHash, from } = creation;
        return Buffer.from(JSON.stringify({ hash: transactionHash, creator: from }));
      }
      return NULL;
    });
