import { type Result, RpcError } from '../../../jsonrpc/index.ts';
import {
  BlockReplacedError,
  HEADROOM_BYTES,
  type HistoryPage,
  type HistoryQuery,
  type JsonWriter,
  JsonWriterPool,
  type MaybePromise,
  mapMaybe,
  TAILROOM_BYTES,
} from '../../../traces/index.ts';
import type { Handler } from '../../method.ts';
import { checkHead, type Heads, resolveHeads, withSizeErrors } from '../traceFilter/fromIndex.ts';
import { storeFor } from '../traceFilter/fromNodes.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { decodeCursor, encodeCursor, type HistoryCursor } from './cursor.ts';
import type { AddressTracesParams } from './params.ts';
import { rangeOf } from './rangeOf.ts';

const START = Buffer.from('{"traces":');
/** Advice in the error message if a single trace exceeds the size limit. */
const INSTEAD = 'exclude its block, or raise gateway.maxAnswerBytes';

/** Returns the handler of floodgate_addressTraces. Blocks that the index lacks are not fetched. */
export function addressTraces(services: IndexServices): Handler {
  const writers = new JsonWriterPool();
  return ([params], caller) => {
    const asked = params as AddressTracesParams; // validated by the parameter type
    const question = cursorScopeOf(asked);
    const cursor = asked.cursor === undefined ? undefined : decodeCursor(asked.cursor, question);
    const bounds = cursor === undefined ? [asked.from ?? asked.to, asked.to] : [cursor.range.toBlock];
    return mapMaybe(resolveHeads(services, bounds), (heads): MaybePromise<Result> => {
      const query = queryOf(asked, cursor, heads);
      const { mayStream } = caller;
      const store = storeFor(services, caller);
      return withSizeErrors(
        () => writePage({ ...services, store }, { query, question, writers, mayStream }),
        INSTEAD,
      );
    });
  };
}

interface PageOptions {
  readonly query: HistoryQuery;
  readonly question: string;
  readonly writers: JsonWriterPool;
  readonly mayStream: boolean;
}

/** Returns the parameters for which a cursor is valid, as text. These are all except the cursor and the page size. */
function cursorScopeOf({ addresses, direction, from, to, order, filter }: AddressTracesParams): string {
  const { minValue, ...rest } = filter;
  return JSON.stringify([[...addresses].sort(), direction, from, to, order, rest, minValue?.toString()]);
}

/** Returns the query with block numbers instead of tags. A cursor determines the block range. Throws RpcError. */
function queryOf(asked: AddressTracesParams, cursor: HistoryCursor | undefined, heads: Heads): HistoryQuery {
  const { addresses, direction, order, filter, limit } = asked;
  const query = { addresses, direction, order, filter, limit };
  if (cursor === undefined) return { ...query, ...rangeOf(asked, heads) };
  const { range, behind } = cursor;
  checkHead(heads, 'toBlock of the cursor:', range.toBlock);
  return { ...query, ...range, cursor: behind };
}

function writePage({ store, maxAnswerBytes }: IndexServices, options: PageOptions): MaybePromise<Result> {
  const { query, writers } = options;
  const json = writers.acquire();
  json.reset();
  json.verbatim(START, 0, START.length);
  const failed = (error: unknown): never => {
    writers.release(json);
    if (!(error instanceof BlockReplacedError)) throw error;
    const { blockNumber } = error;
    throw new RpcError(
      'resourceNotFound',
      `block ${blockNumber} of the cursor was replaced: start over without a cursor`,
      { blockNumber, reason: 'blockReplaced' },
    );
  };
  try {
    const page = store.addressTraces(query, maxAnswerBytes, json);
    if (page instanceof Promise) return page.then((known) => resultOf(json, known, options)).catch(failed);
    return resultOf(json, page, options);
  } catch (error) {
    return failed(error);
  }
}

/** Writes the members after `traces`. A pooled result is later sent from the writer's buffer without a copy. */
function resultOf(
  json: JsonWriter,
  page: HistoryPage,
  { question, writers, mayStream }: PageOptions,
): Result {
  const { range, next, missing } = page;
  const rest = {
    cursor: next === undefined ? null : encodeCursor({ range, behind: next }, question),
    range,
    missing: missing.map(({ fromBlock, toBlock }) => [fromBlock, toBlock]),
  };
  const text = Buffer.from(`,${JSON.stringify(rest).slice(1)}`);
  json.verbatim(text, 0, text.length);
  const release = (): void => writers.release(json);
  if (mayStream)
    return {
      bytes: json.written(),
      freeBytesBefore: HEADROOM_BYTES,
      freeBytesAfter: TAILROOM_BYTES,
      release,
    };
  const copy = json.copy();
  release();
  return copy;
}
