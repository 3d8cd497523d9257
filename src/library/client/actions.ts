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
  Trace,
  TraceFilterParams,
} from './types.ts';

/** A type and no interface: viem's `extend` takes those alone. */
export type FloodgateActions = {
  /** Traces of at most 800 blocks, by sender and recipient: `trace_filter`. */
  traceFilter(filter?: TraceFilterParams, options?: CallOptions): Promise<readonly Trace[]>;
  /**
   * The history of addresses, page by page, until there is no more. A page may be short, or empty, and not be the last. Rejects with
   * the code -32001 where the block that it has come to was replaced: begin anew.
   */
  addressTraces(params: AddressTracesParams, options?: CallOptions): AsyncGenerator<AddressTracesPage, void>;
  /** What the history of an address comes to. */
  addressSummary(params: AddressSummaryParams, options?: CallOptions): Promise<AddressSummary>;
  /**
   * Every new trace of addresses as its block is indexed, once and in order, until it is left or its signal is aborted; what a
   * reorganisation takes back comes again with `removed: true`, the last first. Goes on where it was after a lost connection.
   */
  subscribeTraces(wanted: TraceSubscription, options?: SubscribeOptions): AsyncGenerator<LiveTrace, never>;
};

/** How often a client that has no WebSocket looks for a new head, where it does not say: as viem's. */
export const POLLING_INTERVAL_MS = 4_000;

/** The gateway's own methods on top of what makes calls, such as a client of viem: `client.extend(floodgateActions)`. */
export const floodgateActions = (client: AnyRequester): FloodgateActions =>
  // The cast holds: whatever types it has for the methods that it knows, it passes on any.
  actionsOf(client as Requester, () => polledHeads(client.pollingInterval ?? POLLING_INTERVAL_MS));

export function actionsOf(requester: Requester, openHeads: () => Heads): FloodgateActions {
  const call = async <T>(method: string, params: object, options?: CallOptions): Promise<T> =>
    (await requester.request({ method, params: [withHex(params)] }, options)) as T; // the gateway's answer, as its table says
  const actions: FloodgateActions = {
    traceFilter: (filter = {}, options) => call('trace_filter', filter, options),
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

/** JSON has no bigint. */
const withHex = (params: object): object =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? `0x${value.toString(16)}` : value,
    ]),
  );
