import { type Result, RpcError } from '../../jsonrpc/index.ts';
import {
  type Awaitable,
  andThen,
  BlockReplacedError,
  type HistoryPage,
  type HistoryQuery,
  type JsonWriter,
  JsonWriterPool,
  ROOM_BEFORE_BYTES,
  ROOM_BEHIND_BYTES,
} from '../../traces/index.ts';
import type { Handler } from '../method.ts';
import { answerInBytes, checkHead, type Heads, resolveHeads } from '../traceFilter/fromIndex.ts';
import type { IndexServices } from '../traces/indexServices.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { AddressTracesParams } from './params.ts';
import { rangeOf } from './rangeOf.ts';

const START = Buffer.from('{"traces":');
/** What to do where a single trace is too large. */
const INSTEAD = 'leave its block out, or raise gateway.maxAnswerBytes';

/** floodgate_addressTraces: a page of the history of addresses, over any range, from the index. Nothing is fetched for it. */
export function addressTraces(services: IndexServices): Handler {
  const writers = new JsonWriterPool();
  return ([params], { mayStream }) => {
    const asked = params as AddressTracesParams; // what the parameter's kind made
    const question = questionOf(asked);
    const bounds = asked.from === undefined ? [asked.to] : [asked.from, asked.to];
    return andThen(resolveHeads(services, bounds), (heads): Awaitable<Result> => {
      const query = queryOf(asked, question, heads);
      return answerInBytes(() => writePage(services, { query, question, writers, mayStream }), INSTEAD);
    });
  };
}

interface PageOptions {
  readonly query: HistoryQuery;
  readonly question: string;
  readonly writers: JsonWriterPool;
  readonly mayStream: boolean;
}

/** All that a cursor is good for: everything but it and the size of the page. */
function questionOf({ addresses, direction, from, to, order, filter }: AddressTracesParams): string {
  const { minValue, ...rest } = filter;
  return JSON.stringify([[...addresses].sort(), direction, from, to, order, rest, minValue?.toString()]);
}

/** With its bounds as numbers: those of the first page, where there was one. Throws RpcError. */
function queryOf(asked: AddressTracesParams, question: string, heads: Heads): HistoryQuery {
  const { addresses, direction, order, filter, limit, cursor } = asked;
  const query = { addresses, direction, order, filter, limit };
  if (cursor !== undefined) {
    const { range, behind } = decodeCursor(cursor, question);
    checkHead(heads, 'cursor', range.toBlock);
    return { ...query, ...range, behind };
  }
  return { ...query, ...rangeOf(asked, heads) };
}

function writePage({ store, maxAnswerBytes }: IndexServices, options: PageOptions): Awaitable<Result> {
  const { query, writers } = options;
  const json = writers.take();
  json.reset();
  json.verbatim(START, 0, START.length);
  const failed = (error: unknown): never => {
    writers.giveBack(json);
    if (!(error instanceof BlockReplacedError)) throw error;
    const { blockNumber } = error;
    throw new RpcError(
      'resourceNotFound',
      `block ${blockNumber}, in which the page before ended, was replaced by another since: begin anew, without cursor`,
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

/** What stands behind the traces, and the whole answer, sent from where it was written. */
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
  const release = (): void => writers.giveBack(json);
  if (mayStream)
    return { bytes: json.written(), roomBefore: ROOM_BEFORE_BYTES, roomBehind: ROOM_BEHIND_BYTES, release };
  const copy = json.copy();
  release();
  return copy;
}
