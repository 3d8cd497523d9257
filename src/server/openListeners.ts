import type { Logger } from 'pino';
import type { Config } from '../config/index.ts';
import { type Gateway, unparsedError } from '../ethereum/gateway/index.ts';
import {
  type OpenListener,
  type OpenListenerDependencies,
  openListener,
  type Shown,
} from '../platform/http/index.ts';
import { sendBadUrl, unroutedEnvelope } from '../rules/api/index.ts';
import { ListenError } from './listenError.ts';
import { opsPlaceOf, type Place, publicPlaceOf } from './opsPlace.ts';
import { relayPathOf } from './workers/operatorsRelay.ts';

export type OpenListenersDependencies = Omit<OpenListenerDependencies, 'logger'> & {
  readonly logger: Logger;
};

/** What is shown: to everybody, and to operators. */
export interface ListenerParts {
  /** Undefined where only the rules API is served. */
  readonly gateway: Gateway | undefined;
  readonly operators: Shown['routes'];
  /** Has other processes listen for clients in place of this one. */
  readonly elsewhere?: (() => Promise<Stopped>) | undefined;
  /** Below which paths that is. */
  readonly operatorsPaths: readonly string[];
}

export interface Listeners {
  /** Where the gateway is; where there is none, where operators are served. */
  readonly url: string;
  /** Where operators are served: the same, unless `ops` says otherwise. */
  readonly opsUrl: string;
  /** Refuses what is new and finishes what runs, for `timeoutMs` at most; operators are served until the gateway's clients are done. */
  stop(timeoutMs: number): Promise<void>;
}

const GATEWAY_PATHS = ['/v1/mainnet'];

/** The HTTP framework's own lines of level info repeat ours. */
const quieter = (level: string): string => (level === 'info' ? 'warn' : level);

/** Listens in one place or two. Rejects with ConfigError or ListenError, and nothing left open, where that cannot be. */
export async function openListeners(
  config: Config,
  { gateway, operators, operatorsPaths, elsewhere }: ListenerParts,
  { logger, readers, handled }: OpenListenersDependencies,
): Promise<Listeners> {
  const publicPlace = publicPlaceOf(config);
  const opsPlace = opsPlaceOf(config);
  const open = (place: Place, shown: Shown): Promise<OpenListener> =>
    openPlace(config, place, { shown, isOps: place === opsPlace, logger, readers, handled });
  const toOperators = { routes: operators, paths: operatorsPaths, errorBody: envelope, sendBadUrl };
  if (gateway === undefined) return asListeners([await open(opsPlace ?? publicPlace, toOperators)]);
  const relayPath = relayPathOf(config);
  if (elsewhere !== undefined && relayPath !== undefined) {
    const paths = [...GATEWAY_PATHS, ...operatorsPaths];
    const relayed = await open({ at: { path: relayPath, mode: 0o600 } }, { ...toOperators, paths });
    const others = await begun(elsewhere, relayed);
    return { ...asListeners([others, relayed]), opsUrl: others.url };
  }
  if (opsPlace === undefined)
    return asListeners([
      await openPublicListener(
        config,
        { gateway, operators: { routes: operators, paths: operatorsPaths } },
        { logger, readers, handled },
      ),
    ]);
  // The console asks the gateway where it came from itself: no page of another origin has to be let in.
  const beside = config.console.enabled && !('path' in opsPlace.at);
  const ops = await open(
    opsPlace,
    beside
      ? {
          ...toOperators,
          interceptor: gateway,
          paths: [...GATEWAY_PATHS, ...operatorsPaths],
          errorBody: byPath,
        }
      : toOperators,
  );
  const listens = elsewhere ?? (() => openPublicListener(config, { gateway }, { logger, readers, handled }));
  return asListeners([await begun(listens, ops), ops]);
}

/** The second of two listeners. Where that cannot be the first is closed. */
async function begun(listens: () => Promise<Stopped>, first: OpenListener): Promise<Stopped> {
  try {
    return await listens();
  } catch (error) {
    await first.stop(performance.now());
    throw error;
  }
}

export interface PublicParts {
  readonly gateway: Gateway;
  /** Left out: operators are served elsewhere. */
  readonly operators?: Pick<Shown, 'routes' | 'paths'> | undefined;
}

/** Listens for clients of the gateway, and operators where they have no place of their own. Rejects with ListenError where that cannot be. */
export const openPublicListener = (
  config: Config,
  { gateway, operators }: PublicParts,
  dependencies: OpenListenersDependencies,
): Promise<OpenListener> =>
  openPlace(config, publicPlaceOf(config), {
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
  readonly shown: Shown;
  readonly isOps: boolean;
}

async function openPlace(
  { http: { allowedHosts } }: Config,
  place: Place,
  { shown, isOps, logger, readers, handled }: OpenPlaceOptions,
): Promise<OpenListener> {
  const child = logger.child({}, { level: quieter(logger.level) });
  try {
    return await openListener({ ...place, allowedHosts }, shown, { logger: child, readers, handled });
  } catch (error) {
    throw new ListenError(place.at, isOps ? 'ops.' : '', error);
  }
}

/** One after the other is stopped: operators see the rest go. */
type Stopped = Pick<OpenListener, 'url' | 'stop'>;

function asListeners(listeners: readonly [Stopped, Stopped?]): Listeners {
  const [first, last = first] = listeners;
  return {
    url: first.url,
    opsUrl: last.url,
    async stop(timeoutMs) {
      const deadlineMs = performance.now() + timeoutMs;
      for (const listener of new Set([first, last])) await listener.stop(deadlineMs);
    },
  };
}

const envelope: Shown['errorBody'] = (status, _url, message) => unroutedEnvelope(status, message);
const rpcError: Shown['errorBody'] = (status, _url, message) => unparsedError(status, message);
const byPath: Shown['errorBody'] = (status, url, message) =>
  (url?.startsWith('/client/') === true ? envelope : rpcError)(status, url, message);
