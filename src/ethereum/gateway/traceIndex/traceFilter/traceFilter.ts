import type { Result } from '../../../jsonrpc/index.ts';
import {
  type BlockRange,
  type Hash,
  HEADROOM_BYTES,
  type JsonWriter,
  JsonWriterPool,
  type MaybePromise,
  mapMaybe,
  TAILROOM_BYTES,
  type TraceFilter,
  type TraceReader,
} from '../../../traces/index.ts';
import type { CallLimits } from '../../callLimits.ts';
import type { Handler } from '../../method.ts';
import type { IndexServices, LimitedCaller } from '../traces/indexServices.ts';
import { BlocksByHash } from './blocksByHash.ts';
import {
  checkHead,
  type Heads,
  readBlocks,
  resolveBound,
  resolveHeads,
  withSizeErrors,
} from './fromIndex.ts';
import { checkOrder, checkWidth, type TraceFilterParams } from './params.ts';

const NOTHING = Buffer.from('[]');
const INSTEAD = 'request fewer traces with count';

type ReadFilter = (store: TraceReader, wanted: TraceFilter) => MaybePromise<Result | undefined>;

/** Returns the handler of trace_filter. It is synchronous if this process has the index with the whole range. */
export function traceFilter(services: IndexServices): Handler {
  const { maxAnswerBytes } = services;
  const writers = new JsonWriterPool();
  const blocks = new BlocksByHash(services);
  const ofBlock = (
    asked: TraceFilterParams,
    blockHash: Hash,
    { read, caller }: { read: ReadFilter; caller: LimitedCaller },
  ): MaybePromise<Result> => {
    if (asked.count === 0) return NOTHING;
    const range = (number: number) => ({ fromBlock: number, toBlock: number });
    const readBlock = (number: number, store: TraceReader) =>
      read(store, rangeFilter(asked, range(number), caller.limits));
    return withSizeErrors(() => blocks.read(blockHash, caller, readBlock), INSTEAD);
  };
  return ([filter], caller) => {
    const { mayStream, nextTurn } = caller;
    const asked = filter as TraceFilterParams; // validated by the parameter type
    const read: ReadFilter = (store, wanted) =>
      mayStream
        ? pooled(writers, (json) => store.filter(wanted, maxAnswerBytes, { json, nextTurn }))
        : store.filter(wanted, maxAnswerBytes, { nextTurn });
    if (asked.blockHash !== undefined) return ofBlock(asked, asked.blockHash, { read, caller });
    return mapMaybe(resolveHeads(services, [asked.from, asked.to]), (heads): MaybePromise<Result> => {
      const wanted = filterOf(asked, heads, caller.limits);
      if (wanted.count === 0) return NOTHING;
      const range = { fromBlock: wanted.fromBlock, toBlock: wanted.toBlock, caller };
      return withSizeErrors(() => readBlocks(services, range, (store) => read(store, wanted)), INSTEAD);
    });
  };
}

/** Replaces block tags in a filter by numbers. Throws RpcError if the range is above the head or exceeds a limit. */
function filterOf(asked: TraceFilterParams, heads: Heads, limits: CallLimits): TraceFilter {
  const fromBlock = resolveBound(heads, 'fromBlock', asked.from);
  const toBlock = resolveBound(heads, 'toBlock', asked.to);
  checkWidth(fromBlock, toBlock, limits.traceFilterBlocks);
  checkHead(heads, 'fromBlock', fromBlock);
  checkHead(heads, 'toBlock', toBlock);
  checkOrder(fromBlock, toBlock);
  return rangeFilter(asked, { fromBlock, toBlock }, limits);
}

function rangeFilter(
  asked: TraceFilterParams,
  { fromBlock, toBlock }: BlockRange,
  { traceFilterCount }: CallLimits,
): TraceFilter {
  const { blockHash, fromAddresses, toAddresses, mode, after, count = traceFilterCount } = asked;
  const wantsAll = asked.count === undefined;
  // The members are listed one by one, because rest and spread would cost as much as reading the whole filter.
  return { fromBlock, toBlock, blockHash, fromAddresses, toAddresses, mode, after, count, wantsAll };
}

/** Returns the result in the writer's pooled buffer. It is sent from this buffer without a copy. */
function pooled(
  writers: JsonWriterPool,
  read: (json: JsonWriter) => MaybePromise<Uint8Array | undefined>,
): MaybePromise<Result | undefined> {
  const json = writers.acquire();
  try {
    const bytes = read(json);
    if (!(bytes instanceof Promise)) return resultIn(json, bytes, writers);
    return bytes.then(
      (known) => resultIn(json, known, writers),
      (error: unknown) => {
        writers.release(json);
        throw error;
      },
    );
  } catch (error) {
    writers.release(json);
    throw error;
  }
}

function resultIn(
  json: JsonWriter,
  bytes: Uint8Array | undefined,
  writers: JsonWriterPool,
): Result | undefined {
  const release = (): void => writers.release(json);
  if (bytes !== undefined)
    return { bytes, freeBytesBefore: HEADROOM_BYTES, freeBytesAfter: TAILROOM_BYTES, release };
  release();
  return undefined;
}
