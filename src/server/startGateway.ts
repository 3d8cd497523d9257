import { SharedKeys } from '../ethereum/gateway/index.ts';
import { proxyMatcher } from '../platform/addresses/index.ts';
import type { Tracer } from '../platform/spans/index.ts';
import type { ServerContext } from './base.ts';
import type { OpenedSessions } from './console/openSessions.ts';
import type { Stores } from './data/openStores.ts';
import { type Ethereum, type EthereumParts, OWN_PARTS, startEthereum } from './ethereum/ethereum.ts';
import { boundWaitingConnections } from './listen/waitingConnections.ts';
import { Workers } from './workers/workers.ts';

export interface StartGatewayDependencies extends Pick<Stores, 'storage'> {
  readonly console: OpenedSessions | undefined;
  readonly tracer: Tracer | undefined;
  /** Parts that tests replace. */
  readonly parts: Partial<EthereumParts>;
}

export interface GatewayParts {
  /** Undefined if no role of this server needs nodes. */
  readonly ethereum: Ethereum | undefined;
  /** The workers, which are not started yet; undefined if this process serves the gateway. */
  readonly workers: Workers | undefined;
}

/** Starts the Ethereum networks with their nodes and indexes, and prepares the workers. */
export async function startGateway(
  { config, logger, registry, opened, freeSpace, scheduler, teardown, workerCount }: ServerContext,
  { storage, console, tracer, parts }: StartGatewayDependencies,
): Promise<GatewayParts> {
  const keys = storage?.shared?.keys;
  const workers =
    workerCount === 1
      ? undefined
      : new Workers(
          { config, workers: workerCount },
          { logger, registry, scheduler, keys, findAccess: console?.findAccess },
        );
  if (workers !== undefined) {
    const isProxy = proxyMatcher(config.http.trustedProxies);
    teardown.add(boundWaitingConnections({ registry, isProxy, workers: workerCount }));
  }
  if (!opened.has('nodes')) return { ethereum: undefined, workers };
  const ethereum = await startEthereum(config, {
    logger,
    registry,
    tracer,
    opened,
    freeSpace,
    scheduler,
    parts: { ...OWN_PARTS, ...parts },
    followers: workers,
    sharedKeys: keys && new SharedKeys(keys, config.gateway.keysGraceMs),
  });
  teardown.add(() => ethereum.stop());
  return { ethereum, workers };
}
