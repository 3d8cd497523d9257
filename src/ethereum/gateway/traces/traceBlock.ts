import { RpcError } from '../../jsonrpc/index.ts';
import type { Method } from '../method.ts';
import { answerInBytes, checkHead, fetchMissing, settle, settledHeads } from '../traceFilter/fromIndex.ts';
import { readBlockBound } from '../traceFilter/quantity.ts';
import type { TraceMethodOptions } from './options.ts';
import { checkCount } from './readTraceParams.ts';

/** trace_block, answered from the index: all traces of a block, its rewards at the end. */
export function traceBlock({ store, indexer, maxAnswerBytes }: TraceMethodOptions): Method {
  return {
    name: 'trace_block',
    summary: 'All traces of a block, from the index.',
    async handle(params) {
      checkCount(params, ['block']);
      const bound = readBlockBound('params[0] (block)', params[0] ?? undefined);
      const heads = await settledHeads(indexer, store, [bound]);
      const blockNumber = settle(heads, 'block', bound);
      checkHead(heads, 'block', blockNumber);
      if (store.firstMissing(blockNumber, blockNumber) !== undefined)
        await fetchMissing(indexer, blockNumber, blockNumber);
      const traces = await answerInBytes(
        () => store.blockTraces(blockNumber, maxAnswerBytes),
        'ask for parts of it with trace_filter',
      );
      if (traces !== undefined) return traces;
      throw new RpcError('resourceNotFound', `block ${blockNumber} was just replaced by another; ask again`, {
        blockNumber,
      });
    },
  };
}
