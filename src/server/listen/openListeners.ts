import type { Logger } from 'pino';
import type { Config } from '../../config/index.ts';
import { unparsedError } from '../../ethereum/gateway/index.ts';
import {
  type ConnectionLimits,
  type ListenerContent,
  type OpenListener,
  type OpenListenerDependencies,
  openListener,
} from '../../platform/http/index.ts';
import { sendBadUrl, unroutedEnvelope } from '../../rules/api/index.ts';
import { type ListenAddress, opsListenAddress, publicListenAddress } from './listenAddresses.ts';
import { ListenError } from './listenError.ts';
import { relayPathOf } from './relayedRequests.ts';

export type OpenListenersDependencies = Omit<OpenListenerDependencies, 'logger' | 'connections'> & {
  readonly logger: Logger;
  readonly connections: ConnectionLimits;
};

export interface ListenerParts {
  /** Undefined if this server serves only operators. */
  readonly gateway: ListenerContent['interceptor'];
  /** The gateway for the operators' listener, with sessions of the console. Default: `gateway`. */
  readonly operatorsGateway: ListenerContent['interceptor'];
  readonly operators: ListenerContent['routes'];
  /** Starts other processes that listen for clients instead of this process. */
  readonly startWorkers?: (() => Promise<Stopped>) | undefined;
  /** Path prefixes of the operator routes. */
  readonly operatorsPaths: readonly string[];
}

/** Time in which a proxy uses its idle connections again, and so learns from a response that they end. */
const DRAIN_MS = 1_000;

/** Returns how long a stop keeps idle connections open. Without a stop delay, no proxy is expected. */
export const drainMsOf = ({ stopDelayMs }: Config): number => (stopDelayMs > 0 ? DRAIN_MS : 0);

export interface Listeners {
  /** URL of the gateway, or of the operator routes if this server has no gateway. */
  readonly url: string;
  /** URL of the operator routes; differs from `url` only if `ops` configures a separate listener. */
  readonly opsUrl: string;
  /**
   * Stops accepting connections, and finishes requests within `timeoutMs`. Connections that stay idle for `drainMs` are
   * closed. The operator listener closes last.
   */
  stop(timeoutMs: number, drainMs: number): Promise<void>;
}

const GATEWAY_PATHS = ['/v1/mainnet'];

/** The HTTP framework's info lines duplicate those of Floodgate, so its level is raised to warn. */
const quieter = (level: string): string => (level === 'info' ? 'warn' : level);

/**
 * Opens one listener for all, or one for clients and one for operators. If one fails, closes the other and rejects
 * with ConfigError or ListenError.
 */
export async function openListeners(
  config: Config,
  { gateway, operatorsGateway, operators, operatorsPaths, startWorkers }: ListenerParts,
  dependencies: OpenListenersDependencies,
): Promise<Listeners> {
  const publicPlace = publicListenAddress(config);
  const opsPlace = opsListenAddress(config);
  const open = (place: ListenAddress, shown: ListenerContent): Promise<OpenListener> =>
    openListenerAt(config, place, { shown, isOps: place === opsPlace, ...dependencies });
  const toOperators = { routes: operators, paths: operatorsPaths, errorBody: envelope, sendBadUrl };
  if (gateway === undefined) return asListeners([await open(opsPlace ?? publicPlace, toOperators)]);
  const relayPath = relayPathOf(config);
  if (startWorkers !== undefined && relayPath !== undefined) {
    const paths = [...GATEWAY_PATHS, ...operatorsPaths];
    const relayed = await open({ at: { path: relayPath, mode: 0o600 } }, { ...toOperators, paths });
    const others = await openSecond(startWorkers, relayed);
    return { ...asListeners([others, relayed]), opsUrl: others.url };
  }
  if (opsPlace === undefined)
    return asListeners([
      await openPublicListener(
        config,
        { gateway: operatorsGateway ?? gateway, operators: { routes: operators, paths: operatorsPaths } },
        dependencies,
      ),
    ]);
  // The console sends its gateway requests to its own origin, which needs no CORS. So this listener also serves the
  // gateway.
  const beside = config.console.enabled && !('path' in opsPlace.at);
  const ops = await open(
    opsPlace,
    beside
      ? {
          ...toOperators,
          interceptor: operatorsGateway ?? gateway,
          paths: [...GATEWAY_PATHS, ...operatorsPaths],
          errorBody: byPath,
        }
      : toOperators,
  );
  const listens = startWorkers ?? (() => openPublicListener(config, { gateway }, dependencies));
  return asListeners([await openSecond(listens, ops), ops]);
}

/** Opens the second of two listeners; closes the first if that fails. */
async function openSecond(listens: () => Promise<Stopped>, first: OpenListener): Promise<Stopped> {
  try {
    return await listens();
  } catch (error) {
    await first.stop(performance.now());
    throw error;
  }
}

export interface PublicParts {
  readonly gateway: NonNullable<ListenerContent['interceptor']>;
  /** Routes for operators. Default: none, because another listener serves operators. */
  readonly operators?: Pick<ListenerContent, 'routes' | 'paths'> | undefined;
}

/** Opens the gateway's listener for clients, with the routes for operators if given. Rejects with ListenError. */
export const openPublicListener = (
  config: Config,
  { gateway, operators }: PublicParts,
  dependencies: OpenListenersDependencies,
): Promise<OpenListener> =>
  openListenerAt(config, publicListenAddress(config), {
    shown: operators
      ? {
          interceptor: gateway,
          paths: [...GATEWAY_PATHS, ...operators.paths],
          errorBody: byPath,
          sendBadUrl,
          routes: operators.routes,
        }
      : { interceptor: gateway, paths: GATEWAY_PATHS, errorBody: rpcError, routes: async () => undefined },
    isOps: false,
    ...dependencies,
  });

interface OpenPlaceOptions extends OpenListenersDependencies {
  readonly shown: ListenerContent;
  readonly isOps: boolean;
}

async function openListenerAt(
  { http: { allowedHosts } }: Config,
  place: ListenAddress,
  { shown, isOps, connections, ...dependencies }: OpenPlaceOptions,
): Promise<OpenListener> {
  const { logger } = dependencies;
  const child = logger.child({}, { level: quieter(logger.level) });
  try {
    return await openListener({ ...place, allowedHosts }, shown, {
      ...dependencies,
      logger: child,
      connections: isOps ? connections.operators : connections.clients,
    });
  } catch (error) {
    throw new ListenError(place.at, isOps ? 'ops.' : '', error);
  }
}

/** An open listener. Listeners stop one after the other, so that operators can watch how the gateway stops. */
type Stopped = Pick<OpenListener, 'url' | 'stop'>;

function asListeners(listeners: readonly [Stopped, Stopped?]): Listeners {
  const [first, last = first] = listeners;
  return {
    url: first.url,
    opsUrl: last.url,
    async stop(timeoutMs, drainMs) {
      const deadlineMs = performance.now() + timeoutMs;
      for (const listener of new Set([first, last])) await listener.stop(deadlineMs, drainMs);
    },
  };
}

const envelope: ListenerContent['errorBody'] = (status, _url, message) => unroutedEnvelope(status, message);
const rpcError: ListenerContent['errorBody'] = (status, _url, message) => unparsedError(status, message);
const byPath: ListenerContent['errorBody'] = (status, url, message) =>
  (url?.startsWith('/client/') === true ? envelope : rpcError)(status, url, message);
