import { type Heads, polledHeads } from './heads.ts';
import type { AnyRequester, CallOptions, Requester } from './requester.ts';
import {
  type LiveTrace,
  type SubscribeOptions,
  subscribeTraces,
  type TraceSubscription,
} from './subscribeTraces.ts';
import type {
  AddressSummary,
  AddressSummaryParams,
  AddressTracesPage,
  AddressTracesParams,
  Hex,
  Quantity,
  Trace,
  TraceFilterParams,
} from './types.ts';

/** Pages are consistent only if the range is fixed, so block tags and omitted bounds are not allowed. */
export type TraceFilterPagesParams = Omit<TraceFilterParams, 'fromBlock' | 'toBlock' | 'blockHash'> &
  (
    | { readonly fromBlock: Quantity; readonly toBlock: Quantity; readonly blockHash?: undefined }
    | { readonly blockHash: Hex; readonly fromBlock?: undefined; readonly toBlock?: undefined }
  );

/** A type alias because viem's `extend` does not accept an interface. */
export type FloodgateActions = {
  /**
   * Calls `trace_filter` for at most 800 blocks, by sender and recipient. Without `count` it returns all matches, and
   * rejects with code -32005 if there are more than 200.
   */
  traceFilter(filter?: TraceFilterParams, options?: CallOptions): Promise<readonly Trace[]>;
  /**
   * Yields all matches in pages of `count` traces (default: 200). A reorg between two pages can move traces from one to
   * the other, so use final blocks, or one block by its hash.
   */
  traceFilterPages(
    params: TraceFilterPagesParams,
    options?: CallOptions,
  ): AsyncGenerator<readonly Trace[], void>;
  /**
   * Yields the history of addresses to the end, page by page. Pages before the last can be short or empty. Rejects with
   * code -32001 if a reorg replaced the cursor's block; start again from the beginning.
   */
  addressTraces(params: AddressTracesParams, options?: CallOptions): AsyncGenerator<AddressTracesPage, void>;
  /** Returns counts, first and last block, and value sums of an address. */
  addressSummary(params: AddressSummaryParams, options?: CallOptions): Promise<AddressSummary>;
  /**
   * Yields each new trace of the addresses once, in order, as its block is indexed. Runs until the consumer stops or
   * the signal is aborted, and resumes after a lost connection. After a reorg, removed traces are yielded again with
   * `removed: true`, last first.
   */
  subscribeTraces(wanted: TraceSubscription, options?: SubscribeOptions): AsyncGenerator<LiveTrace, never>;
};

/** Default interval at which a client without a WebSocket polls. Equal to viem's default. */
export const POLLING_INTERVAL_MS = 4_000;

/** Maximum traces in one `trace_filter` result. */
const MAX_COUNT = 200;

/** Adds the gateway's own methods to a client that makes calls, such as viem's: `client.extend(floodgateActions)`. */
export const floodgateActions = (client: AnyRequester): FloodgateActions =>
  // The cast is safe, because a typed client still forwards any method and parameters.
  actionsOf(client as Requester, () => polledHeads(client.pollingInterval ?? POLLING_INTERVAL_MS));

export function actionsOf(requester: Requester, openHeads: () => Heads): FloodgateActions {
  const call = async <T>(method: string, params: object, options?: CallOptions): Promise<T> =>
    (await requester.request({ method, params: [withHex(params)] }, options)) as T; // the method table fixes the result type
  const actions: FloodgateActions = {
    traceFilter: (filter = {}, options) => call('trace_filter', filter, options),
    async *traceFilterPages({ after = 0, count = MAX_COUNT, ...filter }, options) {
      for (let next = Number(after); ; next += Number(count)) {
        const page = await call<readonly Trace[]>('trace_filter', { ...filter, after: next, count }, options);
        if (page.length > 0) yield page;
        if (page.length === 0 || page.length < Number(count)) return;
      }
    },
    async *addressTraces(params, options) {
      for (let { cursor } = params; ; ) {
        const page = await call<AddressTracesPage>('floodgate_addressTraces', { ...params, cursor }, options);
        yield page;
        if (page.cursor === null) return;
        cursor = page.cursor;
      }
    },
    addressSummary: (params, options) => call('floodgate_addressSummary', params, options),
    subscribeTraces: (wanted, options = {}) =>
      subscribeTraces(wanted, options, { pages: actions.addressTraces, openHeads }),
  };
  return actions;
}

/** Converts bigint parameters to hex, because JSON has no bigint. */
const withHex = (params: object): object =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? `0x${value.toString(16)}` : value,
    ]),
  );
