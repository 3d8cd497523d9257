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

/** Parameters of `traceFilterPages`. All pages must have the same range, so it must be given in block numbers. */
export type TraceFilterPagesParams = Omit<TraceFilterParams, 'fromBlock' | 'toBlock' | 'blockHash'> &
  (
    | { readonly fromBlock: Quantity; readonly toBlock: Quantity; readonly blockHash?: undefined }
    | { readonly blockHash: Hex; readonly fromBlock?: undefined; readonly toBlock?: undefined }
  );

/** The gateway's own methods. This is a type alias, because viem's `extend` does not accept an interface. */
export type FloodgateActions = {
  /**
   * Returns the traces of a range of blocks, filtered by sender and recipient (`trace_filter`). Without `count` it
   * returns all matches. Rejects with code -32005 above a limit of the server: by default 800 blocks and 200 matches.
   */
  traceFilter(filter?: TraceFilterParams, options?: CallOptions): Promise<readonly Trace[]>;
  /**
   * Yields all traces that match a `trace_filter`, in pages of `count` traces (default: 200). Set `count` if the limit
   * of the server is lower. A reorg between two pages can repeat or skip traces, so use a range of final blocks, or one
   * block by its hash.
   */
  traceFilterPages(
    params: TraceFilterPagesParams,
    options?: CallOptions,
  ): AsyncGenerator<readonly Trace[], void>;
  /**
   * Yields the history of addresses page by page, to the end. Pages before the last can be short or empty. Rejects
   * with code -32001 if a reorg replaced the block at which the previous page ended; read the history again then.
   */
  addressTraces(params: AddressTracesParams, options?: CallOptions): AsyncGenerator<AddressTracesPage, void>;
  /** Returns how many traces an address has, their first and last block, and the value sent and received. */
  addressSummary(params: AddressSummaryParams, options?: CallOptions): Promise<AddressSummary>;
  /**
   * Yields each new trace of the addresses once, in order, when its block is indexed. Runs until the consumer stops
   * or the signal is aborted, and continues after a lost connection. After a reorg, traces of replaced blocks are
   * yielded again with `removed: true`, the last one first.
   */
  subscribeTraces(wanted: TraceSubscription, options?: SubscribeOptions): AsyncGenerator<LiveTrace, never>;
};

/** Default interval at which a client without a WebSocket polls for new blocks. It equals viem's default. */
export const POLLING_INTERVAL_MS = 4_000;

/** Maximum number of traces in one result of `trace_filter`. */
const MAX_COUNT = 200;

/** Adds the gateway's own methods to a client that makes calls, such as viem's: `client.extend(floodgateActions)`. */
export const floodgateActions = (client: AnyRequester): FloodgateActions =>
  // The cast is safe, because a client with typed methods forwards any method and parameters.
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
