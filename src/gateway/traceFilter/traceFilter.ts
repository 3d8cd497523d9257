import { type Indexer, JsonWriterPool, type TraceStore } from '../../traces/index.ts';
import type { Method } from '../method.ts';
import { answerInBytes, checkHead, fetchMissing, settle, settledHeads } from './fromIndex.ts';
import { checkOrder, checkWidth, readTraceFilterParams } from './params.ts';

export interface TraceFilterOptions {
  readonly store: TraceStore;
  readonly indexer: Indexer;
  readonly maxAnswerBytes: number;
}

const NOTHING = Buffer.from('[]');
/** What to do where an answer is too large. */
const INSTEAD = 'ask for fewer traces with count';

/** trace_filter, answered from the index (seed 4.4, decisions.md B). */
export function traceFilter({ store, indexer, maxAnswerBytes }: TraceFilterOptions): Method {
  const writers = new JsonWriterPool();
  return {
    name: 'trace_filter',
    summary: 'Traces of a range of blocks, by sender and recipient, from the index.',
    async handle(params, { mayStream }) {
      const { from, to, ...rest } = readTraceFilterParams(params);
      const heads = await settledHeads(indexer, store, [from, to]);
      const fromBlock = settle(heads, 'fromBlock', from);
      const toBlock = settle(heads, 'toBlock', to);
      checkWidth(fromBlock, toBlock);
      checkHead(heads, 'fromBlock', fromBlock);
      checkHead(heads, 'toBlock', toBlock);
      checkOrder(fromBlock, toBlock);
      if (rest.count === 0) return NOTHING;

      const filter = { ...rest, fromBlock, toBlock };
      if (store.firstMissing(fromBlock, toBlock) !== undefined)
        await fetchMissing(indexer, fromBlock, toBlock);
      if (!mayStream) return answerInBytes(() => store.filter(filter, maxAnswerBytes), INSTEAD);
      const json = writers.take();
      try {
        const bytes = await answerInBytes(() => store.filter(filter, maxAnswerBytes, json), INSTEAD);
        return { bytes, release: () => writers.giveBack(json) };
      } catch (error) {
        writers.giveBack(json);
        throw error;
      }
    },
  };
}
