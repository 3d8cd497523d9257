import { inBackground } from '../../../../platform/background/index.ts';
import { SerialQueue } from '../../../../platform/serialQueue/index.ts';
import { RateLimitedError, type Result, type ResultStream, RpcError } from '../../../jsonrpc/index.ts';
import {
  FailedRequestError,
  type HedgedResponse,
  NODE_REQUEST_ID,
  SlowTraceError,
  type StreamedResponse,
  TraceSlotsError,
  type UpstreamNode,
  type UpstreamResponse,
  type WholeResponse,
} from '../../../nodes/index.ts';
import { type CallContext, clientOf, type Handler } from '../../method.ts';
import type { TracedRow } from '../../methods/row.ts';
import { RELAYED_ROWS } from '../../methods/rows/relayedRows.ts';
import type { TracerOptions } from '../../methods/tracerOptions.ts';
import { storeFor } from '../../traceIndex/traceFilter/fromNodes.ts';
import type { IndexServices } from '../../traceIndex/traces/indexServices.ts';
import { isNodesFault } from '../classifyResponse.ts';
import { clientErrorOf } from '../clientErrorOf.ts';
import type { Network } from '../network.ts';
import { NoResponseError } from '../noResponseError.ts';
import { relayErrorOf } from '../relayErrorOf.ts';
import { relayed } from '../relayed.ts';
import { resultBytes } from '../resultBytes.ts';
import { resultStream } from '../resultStream.ts';
import { type Comparison, compareWithIndex, hasError } from './compareWithIndex.ts';
import { nodeOptions, resolveBlockTag, type TraceTarget, traceTargetOf } from './traceTarget.ts';

/** Maximum time for which a node traces one transaction, equal to geth's default. Clients can only lower it. */
const MAX_TRANSACTION_MS = 5_000;
/** Maximum size of a cached result that was compared with the index. Larger results are streamed. */
const MAX_COMPARED_BYTES = 32 * 1024 * 1024;
/** Maximum size of a cached result that was not compared. Larger results are streamed. */
const MAX_UNCOMPARED_BYTES = 1024 * 1024;
/** Chain state under which failures are remembered. They are forgotten after a minute, whatever happens to the chain. */
const ANY_STATE = 'any';
/** Members of `tracerConfig` with which a result has the frames of the index and nothing else. */
const COMPARABLE_MEMBERS = ['includePrecompiles', 'convertParityErrors'];

const COUNT = RELAYED_ROWS.find(({ name }) => name === 'eth_getBlockTransactionCountByNumber');
/** Quota without a limit, for a result of a few bytes. */
const SMALL_ROOM = { charge: () => true, credit: () => undefined, freeConnection: () => undefined };

/** Runs one comparison of this process at a time, because one of a large block needs some 200 MB of memory. */
const comparisons = new SerialQueue();

/** Returns the handler of a method that traces with a tracer of nodes. It receives canonical parameters. */
export function traced(row: TracedRow, network: Network, index: IndexServices): Handler {
  const relay = new TracedRelay(row, network, index);
  return (params, context) => relay.handle(params, context);
}

interface TracedCall {
  readonly key: string;
  readonly params: readonly unknown[];
  readonly options: TracerOptions;
}

/** A node's response that equal requests share. */
type Shared = WholeResponse | SlowTraceError | undefined;

/** Lets nodes trace for one method. Concurrent equal requests share one request to a node. */
class TracedRelay {
  readonly #row: TracedRow;
  readonly #network: Network;
  readonly #index: IndexServices;
  readonly #countTransactions: Handler | undefined;
  readonly #cacheResults: ReturnType<Network['metrics']['cacheResults']>;
  /** Running requests to nodes, also those that are late. */
  readonly #running = new Map<string, Promise<Shared>>();

  constructor(row: TracedRow, network: Network, index: IndexServices) {
    this.#row = row;
    this.#network = network;
    this.#index = index;
    this.#countTransactions = COUNT && relayed(COUNT, network);
    this.#cacheResults = network.metrics.cacheResults(network.name, row.name);
  }

  /** Returns a cached result synchronously, otherwise a promise of a node's result. Throws RpcError. */
  handle(params: readonly unknown[], context: CallContext): Promise<Result> | Result {
    const options = params.at(-1) as TracerOptions; // validated by the parameter type
    const { timeoutMs: _, ...wanted } = options;
    const call = { key: this.#row.name + JSON.stringify([...params.slice(0, -1), wanted]), params, options };
    return this.#cached(call.key, context) ?? this.#resolveAndAsk(call, context);
  }

  #cached(key: string, context: CallContext): Buffer | undefined {
    if (this.#row.scope.of !== 'traced') return undefined;
    const { cache } = this.#network;
    const cached = cache.getFinalOrHead(key);
    if (cached === undefined) return undefined;
    context.cache = 'hit';
    this.#cacheResults.hit.inc();
    return cached;
  }

  async #resolveAndAsk({ params, options, key }: TracedCall, context: CallContext): Promise<Result> {
    const place = this.#row.traces === 'call' ? 1 : 0;
    const block = params[place];
    const resolved = await resolveBlockTag(block, this.#network.pool);
    if (resolved === block) return this.#ask({ params, options, key }, context);
    return this.handle(params.with(place, resolved), context);
  }

  async #ask(call: TracedCall, context: CallContext): Promise<Result> {
    const { failedRequests } = this.#network;
    const runningKey = `${call.options.timeoutMs} ${call.key}`;
    for (let running = this.#running.get(runningKey); running !== undefined; ) {
      const shared = await running;
      if (shared !== undefined) return this.#coalesced(shared, context);
      running = this.#running.get(runningKey);
    }
    const failed = failedRequests.size === 0 ? undefined : failedRequests.get(call.key, ANY_STATE);
    if (failed !== undefined) throw clientErrorOf(failed);
    const trace = this.#trace(call, context);
    this.#running.set(runningKey, trace.then(sharedPart, slowPart));
    try {
      const sent = await trace;
      this.#running.delete(runningKey);
      context.cache = 'miss';
      context.node = sent.node.name;
      this.#cacheResults.miss.inc();
      return 'stream' in sent ? streamOf(sent) : resultBytes(sent.response);
    } catch (error) {
      const forget = (): boolean => this.#running.delete(runningKey);
      // The node still works. Equal requests fail until it has ended, so that they do not occupy further slots.
      if (error instanceof SlowTraceError) inBackground('late trace', () => error.released.then(forget));
      else forget();
      throw this.#errorOf(error, call.key);
    }
  }

  #coalesced(shared: WholeResponse | SlowTraceError, context: CallContext): Buffer {
    if (shared instanceof SlowTraceError) throw slowError(shared);
    context.cache = 'coalesced';
    context.node = shared.node.name;
    this.#cacheResults.coalesced.inc();
    return resultBytes(shared.response);
  }

  async #trace(call: TracedCall, context: CallContext): Promise<HedgedResponse> {
    const { pool, cache, maxAnswerBytes, timeoutMs } = this.#network;
    const { options, params } = call;
    const index = { ...this.#index, store: storeFor(this.#index, context) };
    const target = await traceTargetOf(this.#row, params, { pool, index });
    const { epoch } = cache;
    const isFinal = target.blockNumber !== undefined && target.blockNumber <= (pool.heads.final ?? -1);
    const mayCompare = isFinal && this.#row.scope.of === 'traced' && isComparable(options);
    const transactionTimeoutMs = Math.min(
      options.timeoutMs ?? MAX_TRANSACTION_MS,
      MAX_TRANSACTION_MS,
      timeoutMs,
    );
    const forNode = nodeOptions(options, transactionTimeoutMs);
    let comparison: Comparison = 'unknown';
    const sent = await pool.requests.trace({
      method: target.method,
      bodyFor: (node) => bodyOf(target, node, forNode),
      needsBlock: target.blockNumber ?? pool.heads.latest?.number,
      client: clientOf(context),
      timeoutMs,
      transactionTimeoutMs,
      countTransactions: () => this.#transactionsOf(target, context),
      maxBytes: maxAnswerBytes,
      streamAboveBytes: context.mayStream
        ? mayCompare
          ? MAX_COMPARED_BYTES
          : MAX_UNCOMPARED_BYTES
        : undefined,
      room: context.room,
      span: context.span,
      isGood: async ({ node, response }) => {
        if (response.kind === 'error') return !isWorthARetry(response);
        if (mayCompare) comparison = await this.#compare(target, options, response);
        if (comparison === 'differs')
          this.#network.metrics.disagreed({
            network: this.#network.name,
            node: node.name,
            method: this.#row.name,
          });
        return comparison !== 'differs' && response.value !== null;
      },
    });
    if ('response' in sent) this.#cache(call.key, sent, { comparison, isFinal, epoch });
    return sent;
  }

  async #compare(
    { blockNumber = -1, blockHash, transactionHash }: TraceTarget,
    { tracer, tracerConfig }: TracerOptions,
    { bytes, value }: Extract<UpstreamResponse, { kind: 'result' }>,
  ): Promise<Comparison> {
    const compared = { blockNumber, blockHash, transactionHash, bytes, value };
    const { chainId } = this.#network.pool;
    const comparison = await comparisons.run(() =>
      compareWithIndex(this.#index.store, chainId, {
        ...compared,
        tracer: tracer as 'callTracer', // the caller has checked that the result is comparable
      }),
    );
    // Without this option, geth leaves out calls with value to precompiled contracts, so a difference is no fault.
    const mayLackFrames = tracer === 'flatCallTracer' && tracerConfig['includePrecompiles'] !== true;
    return comparison === 'differs' && mayLackFrames ? 'failed' : comparison;
  }

  #cache(
    key: string,
    { node, response }: WholeResponse,
    { comparison, isFinal, epoch }: { comparison: Comparison; isFinal: boolean; epoch: number },
  ): void {
    if (response.kind === 'error' || this.#row.scope.of !== 'traced') return;
    const { value, bytes } = response;
    const { cache } = this.#network;
    if (comparison === 'equal' && bytes.length <= MAX_COMPARED_BYTES)
      return cache.putFinal(key, Buffer.from(bytes));
    if (comparison !== 'unknown' || bytes.length > MAX_UNCOMPARED_BYTES || value === null) return;
    if (this.#row.traces === 'block' && (!Array.isArray(value) || value.some(hasError))) return;
    if (!isFinal) cache.putHead(key, Buffer.from(bytes), epoch);
    else if (node.health !== 'quarantined') cache.putUnconfirmed(key, Buffer.from(bytes), node.name);
  }

  /** Returns the number of transactions that a node executes at most for a request. */
  async #transactionsOf({ blockNumber }: TraceTarget, { limits }: CallContext): Promise<number> {
    if (this.#row.traces === 'call' || blockNumber === undefined || this.#countTransactions === undefined)
      return 1;
    const block = `0x${blockNumber.toString(16)}`;
    const counted = await this.#countTransactions([block], { mayStream: false, room: SMALL_ROOM, limits });
    return Number(JSON.parse(Buffer.from(counted as Uint8Array).toString())); // the result of a count is bytes
  }

  #errorOf(error: unknown, key: string): unknown {
    if (error instanceof SlowTraceError) return slowError(error);
    if (error instanceof TraceSlotsError) {
      this.#network.metrics.limited('node_traces');
      return new RateLimitedError(
        'the nodes run as many traces as they may, for this client or for all; try again',
        1,
      );
    }
    if (error instanceof FailedRequestError) this.#network.failedRequests.put(key, ANY_STATE, error);
    return relayErrorOf(error, this.#network);
  }
}

/** Returns the part of a result that equal requests can share. They cannot share a stream. */
const sharedPart = (sent: HedgedResponse): Shared => ('stream' in sent ? undefined : sent);
const slowPart = (error: unknown): Shared => (error instanceof SlowTraceError ? error : undefined);

function streamOf({ stream }: StreamedResponse): ResultStream {
  const result = resultStream(stream);
  if (result !== undefined) return result;
  stream.abort();
  throw new NoResponseError();
}

const slowError = ({ timeoutMs }: SlowTraceError): RpcError =>
  new RpcError(
    'limitExceeded',
    `the node needs longer than ${timeoutMs} ms for this trace, and continues it: try again later, or trace single transactions (the limit is gateway.requestTimeoutMs)`,
    { limit: timeoutMs },
  );

const isComparable = ({ tracer, tracerConfig }: TracerOptions): boolean =>
  (tracer === 'callTracer' || tracer === 'flatCallTracer') &&
  Object.keys(tracerConfig).every((name) => COMPARABLE_MEMBERS.includes(name));

/** Returns true if another node may return a trace. A tracer's timeout is the fault of the request. */
const isWorthARetry = (error: { readonly code: number; readonly message: string }): boolean =>
  isNodesFault(error) && !/execution timeout/i.test(error.message);

const bodyOf = ({ method, paramsFor }: TraceTarget, node: UpstreamNode, options: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: NODE_REQUEST_ID, method, params: [...paramsFor(node), options] });
