import type { Indexer } from '../../ingest/index.ts';
import type { Result } from '../../jsonrpc/index.ts';
import {
  type JsonWriter,
  JsonWriterPool,
  ROOM_BEFORE_BYTES,
  ROOM_BEHIND_BYTES,
  type TraceFilter,
  type TraceStore,
} from '../../traces/index.ts';
import type { Method } from '../method.ts';
import { answerInBytes, checkHead, fetchMissing, type Heads, settle, settledHeads } from './fromIndex.ts';
import { checkOrder, checkWidth, readTraceFilterParams, type TraceFilterParams } from './params.ts';

export interface TraceFilterOptions {
  readonly store: TraceStore;
  readonly indexer: Indexer;
  readonly maxAnswerBytes: number;
}

const NOTHING = Buffer.from('[]');
/** What to do where an answer is too large. */
const INSTEAD = 'ask for fewer traces with count';

/** trace_filter, answered from the index (seed 4.4, decisions.md B); at once where the index has all of the range. */
export function traceFilter(options: TraceFilterOptions): Method {
  const { store, indexer } = options;
  const writers = new JsonWriterPool();
  return {
    name: 'trace_filter',
    summary: 'Traces of a range of blocks, by sender and recipient, from the index.',
    handle(params, { mayStream }) {
      const asked = readTraceFilterParams(params);
      const answer = (heads: Heads): Promise<Result> | Result => {
        const filter = filterOf(asked, heads);
        if (filter.count === 0) return NOTHING;
        const read = (): Promise<Result> | Result =>
          mayStream ? lend(options, writers, filter) : copy(options, filter);
        const { fromBlock, toBlock } = filter;
        if (store.firstMissing(fromBlock, toBlock) === undefined) return read();
        return fetchMissing(indexer, fromBlock, toBlock).then(read);
      };
      const heads = settledHeads(indexer, store, [asked.from, asked.to]);
      return heads instanceof Promise ? heads.then(answer) : answer(heads);
    },
  };
}

/** The filter with its bounds as numbers. Throws RpcError where they are not within the chain and the limits. */
function filterOf(asked: TraceFilterParams, heads: Heads): TraceFilter {
  const { fromAddresses, toAddresses, mode, after, count } = asked;
  const fromBlock = settle(heads, 'fromBlock', asked.from);
  const toBlock = settle(heads, 'toBlock', asked.to);
  checkWidth(fromBlock, toBlock);
  checkHead(heads, 'fromBlock', fromBlock);
  checkHead(heads, 'toBlock', toBlock);
  checkOrder(fromBlock, toBlock);
  // Member by member: copying what is left of an object costs as much as all that is above.
  return { fromBlock, toBlock, fromAddresses, toAddresses, mode, after, count };
}

const copy = ({ store, maxAnswerBytes }: TraceFilterOptions, filter: TraceFilter): Promise<Result> | Result =>
  answerInBytes(() => store.filter(filter, maxAnswerBytes), INSTEAD);

/** The answer where it was written: it is sent from there. */
function lend(
  { store, maxAnswerBytes }: TraceFilterOptions,
  writers: JsonWriterPool,
  filter: TraceFilter,
): Promise<Result> | Result {
  const json = writers.take();
  try {
    const bytes = answerInBytes(() => store.filter(filter, maxAnswerBytes, json), INSTEAD);
    if (!(bytes instanceof Promise)) return lent(bytes, json, writers);
    return bytes.then(
      (known) => lent(known, json, writers),
      (error: unknown) => {
        writers.giveBack(json);
        throw error;
      },
    );
  } catch (error) {
    writers.giveBack(json);
    throw error;
  }
}

const lent = (bytes: Uint8Array, json: JsonWriter, writers: JsonWriterPool): Result => ({
  bytes,
  roomBefore: ROOM_BEFORE_BYTES,
  roomBehind: ROOM_BEHIND_BYTES,
  release: () => writers.giveBack(json),
});
