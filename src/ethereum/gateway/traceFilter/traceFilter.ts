import type { Result } from '../../jsonrpc/index.ts';
import {
  type Awaitable,
  andThen,
  type JsonWriter,
  JsonWriterPool,
  ROOM_BEFORE_BYTES,
  ROOM_BEHIND_BYTES,
  type TraceFilter,
} from '../../traces/index.ts';
import type { Handler } from '../method.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { answerInBytes, checkHead, type Heads, readBlocks, resolveBound, resolveHeads } from './fromIndex.ts';
import { checkOrder, checkWidth, type TraceFilterParams } from './params.ts';

const NOTHING = Buffer.from('[]');
/** What to do where an answer is too large. */
const INSTEAD = 'ask for fewer traces with count';

/** trace_filter, answered from the index; at once where the index has all of the range and is embedded. */
export function traceFilter(services: IndexServices): Handler {
  const writers = new JsonWriterPool();
  return ([filter], { mayStream }) => {
    const asked = filter as TraceFilterParams; // what the parameter's kind made
    return andThen(resolveHeads(services, [asked.from, asked.to]), (heads): Awaitable<Result> => {
      const filter = filterOf(asked, heads);
      if (filter.count === 0) return NOTHING;
      const read = mayStream ? () => pooled(services, writers, filter) : () => copied(services, filter);
      return answerInBytes(() => readBlocks(services, filter, read), INSTEAD);
    });
  };
}

/** The filter with its bounds as numbers. Throws RpcError where they are not within the chain and the limits. */
function filterOf(asked: TraceFilterParams, heads: Heads): TraceFilter {
  const { fromAddresses, toAddresses, mode, after, count } = asked;
  const fromBlock = resolveBound(heads, 'fromBlock', asked.from);
  const toBlock = resolveBound(heads, 'toBlock', asked.to);
  checkWidth(fromBlock, toBlock);
  checkHead(heads, 'fromBlock', fromBlock);
  checkHead(heads, 'toBlock', toBlock);
  checkOrder(fromBlock, toBlock);
  // Member by member: copying what is left of an object costs as much as all that is above.
  return { fromBlock, toBlock, fromAddresses, toAddresses, mode, after, count };
}

const copied = (
  { store, maxAnswerBytes }: IndexServices,
  filter: TraceFilter,
): Awaitable<Result | undefined> => store.filter(filter, maxAnswerBytes);

/** The answer where it was written, in a buffer of a pool: it is sent from there. */
function pooled(
  { store, maxAnswerBytes }: IndexServices,
  writers: JsonWriterPool,
  filter: TraceFilter,
): Awaitable<Result | undefined> {
  const json = writers.take();
  try {
    const bytes = store.filter(filter, maxAnswerBytes, json);
    if (!(bytes instanceof Promise)) return resultIn(json, bytes, writers);
    return bytes.then(
      (known) => resultIn(json, known, writers),
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

function resultIn(
  json: JsonWriter,
  bytes: Uint8Array | undefined,
  writers: JsonWriterPool,
): Result | undefined {
  const release = (): void => writers.giveBack(json);
  if (bytes !== undefined)
    return { bytes, roomBefore: ROOM_BEFORE_BYTES, roomBehind: ROOM_BEHIND_BYTES, release };
  release();
  return undefined;
}
