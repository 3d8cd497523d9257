/** Entry point of `floodgate/client`: the gateway's own methods, with types. The client needs only `fetch`. */
import { actionsOf, type FloodgateActions, POLLING_INTERVAL_MS } from './actions.ts';
import { polledHeads, type WebSocketConstructor, WebSocketHeads } from './heads.ts';
import { type HttpOptions, httpRequester } from './httpRequester.ts';

export { type FloodgateActions, floodgateActions, type TraceFilterPagesParams } from './actions.ts';
export { FloodgateHttpError, FloodgateRpcError, MissingBlocksError, ReplacedTooDeepError } from './errors.ts';
export type { WebSocketConstructor, WebSocketLike } from './heads.ts';
export type { HttpOptions } from './httpRequester.ts';
export type { AnyRequester, CallOptions } from './requester.ts';
export type { LiveTrace, SubscribeOptions, TraceSubscription } from './subscribeTraces.ts';
export type {
  AddressSummary,
  AddressSummaryParams,
  AddressTracesPage,
  AddressTracesParams,
  CallTrace,
  CreateTrace,
  Hex,
  Quantity,
  RewardTrace,
  SuicideTrace,
  Trace,
  TraceFilterParams,
} from './types.ts';

export interface FloodgateClientOptions extends HttpOptions {
  /**
   * WebSocket class for `subscribeTraces`. Default: the global class, which browsers and Node 22 have. On Node 20,
   * use the package `ws`. Without a class, the client polls every 4 seconds.
   */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

export type FloodgateClient = FloodgateActions;

/** Creates a client for one network of a gateway. */
export function createFloodgateClient(options: FloodgateClientOptions): FloodgateClient {
  const { WebSocket = (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket } = options;
  return actionsOf(httpRequester(options), () =>
    WebSocket === undefined
      ? polledHeads(POLLING_INTERVAL_MS)
      : new WebSocketHeads(webSocketUrl(options), WebSocket),
  );
}

function webSocketUrl({ url, key }: HttpOptions): string {
  const own = new URL(url);
  own.protocol = own.protocol === 'https:' ? 'wss:' : 'ws:';
  if (key !== undefined) own.searchParams.set('key', key);
  return own.href;
}
