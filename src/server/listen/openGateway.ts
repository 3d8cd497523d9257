import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import { Gateway, type GatewayDependencies, type GatewayOptions } from '../../ethereum/gateway/index.ts';
import { type ClientAddress, proxyMatcher } from '../../platform/addresses/index.ts';
import { type ConnectionLimits, Handshakes, Readers, UnfinishedMessages } from '../../platform/http/index.ts';
import type { Scheduler } from '../../platform/scheduler/index.ts';
import { decimalChainId } from '../ethereum/decimalChainId.ts';
import type { EthereumNetwork } from '../ethereum/ethereumNetwork.ts';
import type { Tuning } from '../tuning.ts';
import { type ConnectionLimitsOf, connectionLimitsOf } from './connectionLimits.ts';

/** Limits per key are ten times the limits per address, because an application uses its key from several addresses. */
const ADDRESSES_PER_KEY = 10;
/** Maximum bytes of notifications that a WebSocket client has not read: about 4,000 block headers of 1 kB. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
/** Idle timeout of WebSockets, equal to nginx's default for idle connections. Floodgate sends a ping every 20 s. */
const IDLE_TIMEOUT_MS = 60_000;

/** The limits and shares of all HTTP clients of a process. */
export interface HttpLimits {
  readonly readers: Readers;
  readonly unfinished: UnfinishedMessages;
  readonly connections: ConnectionLimits;
  readonly scheduler: Scheduler;
  readonly handshakes: Handshakes;
}

export interface HttpLimitsDependencies {
  readonly clientAddress: ClientAddress;
  readonly metrics: Registry;
  readonly log: Logger;
  readonly scheduler: Scheduler;
}

/** Returns the limits of all HTTP clients of a process. */
export function httpLimitsOf(
  config: Config,
  processes: ConnectionLimitsOf,
  dependencies: HttpLimitsDependencies,
): HttpLimits {
  const { maxUnsentBytes: maxBytes, sendTimeoutMs, trustedProxies } = config.http;
  const { workers } = processes;
  return {
    readers: new Readers({ maxBytes, sendTimeoutMs, ...dependencies }),
    unfinished: new UnfinishedMessages({ processes: workers === 1 ? 1 : 1 + workers, ...dependencies }),
    connections: connectionLimitsOf(config, processes, dependencies),
    scheduler: dependencies.scheduler,
    handshakes: new Handshakes({
      processes: workers,
      isTrustedProxy: proxyMatcher(trustedProxies),
      metrics: dependencies.metrics,
    }),
  };
}

export interface OpenGatewayDependencies
  extends Omit<GatewayDependencies, 'networks' | 'live' | 'chainIdOf'> {
  readonly networks: ReadonlyMap<string, Pick<EthereumNetwork, 'methods' | 'live' | 'pool'>>;
}

/** Returns the gateway of a process. A worker's configuration already contains its share of the limits. */
export function openGateway(
  config: Config,
  { networks, ...dependencies }: OpenGatewayDependencies,
  tuning: Tuning = {},
): Gateway {
  return new Gateway(gatewayOptionsOf(config, tuning), {
    ...dependencies,
    networks: new Map([...networks].map(([name, { methods }]) => [name, methods])),
    live: new Map([...networks].map(([name, { live }]) => [name, live])),
    chainIdOf: (network) => decimalChainId(networks.get(network)?.pool.chainId),
  });
}

function gatewayOptionsOf({ gateway, http }: Config, tuning: Tuning): GatewayOptions {
  const { webSocket, instances } = gateway;
  const shareOf = (limit: number): number => Math.max(1, Math.floor(limit / instances));
  const maxConnectionsPerAddress = shareOf(webSocket.maxConnectionsPerAddress);
  const maxSubscriptionsPerAddress = shareOf(webSocket.maxSubscriptionsPerAddress);
  return {
    ...gateway,
    trustedProxies: http.trustedProxies,
    webSocket: {
      ...webSocket,
      maxConnectionsPerAddress,
      maxSubscriptionsPerAddress,
      maxConnectionsPerKey: ADDRESSES_PER_KEY * maxConnectionsPerAddress,
      maxSubscriptionsPerKey: ADDRESSES_PER_KEY * maxSubscriptionsPerAddress,
      maxUnsentBytes: MAX_UNSENT_BYTES,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      ...tuning.webSocket,
    },
  };
}
