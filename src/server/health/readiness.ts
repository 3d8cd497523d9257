import type { Readiness } from '../../platform/http/index.ts';
import type { Dns } from '../dns/dns.ts';
import type { Ethereum } from '../ethereum/ethereum.ts';
import type { FreeSpace } from './freeSpace.ts';
import type { StoreWatch } from './storeWatch.ts';

export interface ReadinessSources {
  readonly stores: Pick<StoreWatch, 'problem' | 'ownProblem'>;
  readonly freeSpace: Pick<FreeSpace, 'problem'>;
  readonly ethereum: Ethereum | undefined;
  readonly dns: Dns | undefined;
  readonly workers: { missing(): string | undefined } | undefined;
  /** Why no API key can be checked; undefined if keys are known. */
  readonly keysProblem: string | undefined;
  readonly isStopping: boolean;
}

export function readinessOf(sources: ReadinessSources): Readiness {
  const { stores, freeSpace, ethereum, dns, workers, isStopping } = sources;
  const missing = ethereum?.notReady();
  const unavailable = ethereum?.unavailable();
  const keys = sources.keysProblem;
  const checks = {
    store: stores.problem ?? 'ok',
    // A full disk affects readiness if the index therefore lags.
    ...(freeSpace.problem !== undefined && { disk: freeSpace.problem }),
    ...(ethereum && { ingest: missing ?? 'ok' }),
    ...(keys !== undefined && { keys }),
    // Unavailable blocks do not affect readiness, because all other blocks are served.
    ...(unavailable !== undefined && { blocks: unavailable }),
    // DNS state does not affect readiness, because the guard keeps answering DNS.
    ...(dns && { dns: dns.missing() ?? 'ok' }),
    ...(workers && { workers: workers.missing() ?? 'ok' }),
    ...(isStopping && { server: 'stopping' }),
  };
  // A fault of a store that servers share does not affect readiness, because reads, the gateway and the guard
  // continue.
  const isBehind = missing !== undefined;
  const isWhole = workers?.missing() === undefined;
  const isHealthy = stores.ownProblem === undefined && keys === undefined && isWhole;
  return { ready: !isBehind && isHealthy && !isStopping, checks };
}
