import type { Config } from '../../config/index.ts';
import type { GatewayOptions } from '../../ethereum/gateway/index.ts';
import type { Tuning } from '../tuning.ts';

/** Limits per key are ten times the limits per address, because an application uses its key from several addresses. */
const ADDRESSES_PER_KEY = 10;
/** Maximum bytes of notifications that a WebSocket client has not read: about 4,000 block headers of 1 kB. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Idle timeout of WebSockets, equal to nginx's default for idle connections. Floodgate sends a ping every 20 s. */
const IDLE_TIMEOUT_MS = 60_000;

/** Returns the gateway's options. A worker's configuration already contains its share of the limits. */
export function gatewayOptionsOf({ gateway, http }: Config, tuning: Tuning = {}): GatewayOptions {
  const { webSocket } = gateway;
  return {
    ...gateway,
    trustedProxies: http.trustedProxies,
    webSocket: {
      ...webSocket,
      maxConnectionsPerKey: ADDRESSES_PER_KEY * webSocket.maxConnectionsPerAddress,
      maxSubscriptionsPerKey: ADDRESSES_PER_KEY * webSocket.maxSubscriptionsPerAddress,
      maxUnsentBytes: MAX_UNSENT_BYTES,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      ...tuning.webSocket,
    },
  };
}
