import { Registry } from 'prom-client';
import type { FleetStore } from '../../dns/fleet/index.ts';
import { Gateway } from '../../ethereum/gateway/index.ts';
import { Readers, type Readiness, UnfinishedMessages } from '../../platform/http/index.ts';
import type { Tracer } from '../../platform/spans/index.ts';
import type { ServerContext } from '../base.ts';
import type { SignInCode } from '../console/signInCode.ts';
import type { Stores } from '../data/openStores.ts';
import type { Dns } from '../dns/dns.ts';
import { decimalChainId } from '../ethereum/decimalChainId.ts';
import type { Ethereum } from '../ethereum/ethereum.ts';
import { HealthHistory } from '../health/healthHistory.ts';
import { openAccessLog } from './accessLog.ts';
import { gatewayOptionsOf } from './gatewayOptions.ts';
import { type Listeners, openListeners } from './openListeners.ts';
import { operatorRoutes, operatorsPathsOf } from './operatorRoutes.ts';

/** The workers, which serve the gateway instead of this process. */
export interface WorkerListeners {
  start(): Promise<{ readonly url: string }>;
  stop(deadlineMs: number): Promise<void>;
  metrics(): Promise<Registry>;
  settled(): Promise<void>;
}

export interface ListenParts extends Stores {
  readonly fleet: FleetStore | undefined;
  readonly ethereum: Ethereum | undefined;
  readonly workers: WorkerListeners | undefined;
  readonly dns: Dns | undefined;
  readonly tracer: Tracer | undefined;
  readonly signInCode: SignInCode | undefined;
  readonly readiness: () => Readiness;
  readonly isStopping: () => boolean;
}

export interface Listening {
  /** Undefined if this server has no gateway. */
  readonly gateway: Gateway | undefined;
  readonly listeners: Listeners;
}

/** Opens the listeners for clients of the gateway and for operators. The caller must stop them. */
export async function listen(base: ServerContext, parts: ListenParts): Promise<Listening> {
  const { config, logger, registry, opened, tuning, teardown, clientAddress } = base;
  const { storage, tokenUses, ethereum, workers, dns, readiness } = parts;
  const metrics = (): Promise<Registry> | Registry => workers?.metrics() ?? registry;
  const history = new HealthHistory({}, { dataDir: config.dataDir, metrics, readiness, ethereum, dns });
  teardown.add(() => history.stop());
  const accessLog = base.isRelayed
    ? undefined
    : await openAccessLog(config, { logger, registry, clientAddress });
  teardown.add(() => accessLog?.close());
  const bounds = memoryLimitsOf(base);
  const gateway =
    ethereum && opened.has('gateway') ? gatewayOf(base, { ...parts, ethereum, ...bounds }) : undefined;
  const { fleet, tracer, signInCode } = parts;
  const operators = operatorRoutes(config, {
    ...{ opened, storage, ethereum, dns, fleet, registry, metrics, clientAddress, readiness, history },
    ...{ logger, tracer, signInCode, tuning, uses: tokenUses },
    keysSettled: async () => workers?.settled(),
  });
  const elsewhere =
    workers &&
    (async () => {
      const { url } = await workers.start();
      return { url, stop: (deadlineMs: number) => workers.stop(deadlineMs) };
    });
  const listeners = await openListeners(
    config,
    { gateway, operators, operatorsPaths: operatorsPathsOf(opened), startWorkers: elsewhere },
    { logger, ...bounds, handled: accessLog?.handled },
  );
  return { gateway, listeners };
}

interface MemoryLimits {
  readonly readers: Readers;
  readonly unfinished: UnfinishedMessages;
}

function memoryLimitsOf({
  config,
  logger,
  registry,
  workerCount,
  isRelayed,
  clientAddress,
}: ServerContext): MemoryLimits {
  // Workers count the requests that they relay to this process, so this process does not export its own count.
  const metrics = isRelayed ? new Registry() : registry;
  const { maxUnsentBytes, sendTimeoutMs } = config.http;
  const processes = workerCount === 1 ? 1 : 1 + workerCount;
  return {
    readers: new Readers({ maxBytes: maxUnsentBytes, sendTimeoutMs, clientAddress, metrics, log: logger }),
    unfinished: new UnfinishedMessages({ processes, clientAddress, metrics, log: logger }),
  };
}

type GatewayParts = Pick<ListenParts, 'tracer' | 'isStopping'> &
  MemoryLimits & { readonly ethereum: Ethereum };

const gatewayOf = (
  { config, logger, tuning }: ServerContext,
  { ethereum, tracer, isStopping, readers, unfinished }: GatewayParts,
): Gateway =>
  new Gateway(gatewayOptionsOf(config, tuning), {
    networks: ethereum.methods,
    live: ethereum.live,
    chainIdOf: (network) => decimalChainId(ethereum.pools.get(network)?.chainId),
    keys: ethereum.keys,
    metrics: ethereum.metrics,
    filterMemory: ethereum.filterMemory,
    log: logger,
    ...{ tracer, readers, unfinished, isStopping },
  });
