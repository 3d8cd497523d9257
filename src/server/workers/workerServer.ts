import type { Logger } from 'pino';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { networksOf } from '../../config/index.ts';
import {
  type ApiKeyReplica,
  Gateway,
  GatewayMetrics,
  LeasedRates,
  METHODS,
  SharedKeys,
} from '../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import { clientAddressReader } from '../../platform/addresses/index.ts';
import { logBackgroundFailures } from '../../platform/background/index.ts';
import { Readers, UnfinishedMessages } from '../../platform/http/index.ts';
import { LastUsedTracker } from '../../platform/lastUses/index.ts';
import { timestampOfMillis } from '../../rules/index.ts';
import { decimalChainId } from '../ethereum/decimalChainId.ts';
import { servedTable } from '../ethereum/ethereum.ts';
import type { NetworkState } from '../ethereum/ethereumNetwork.ts';
import { countDroppedLogLines } from '../health/serverMetrics.ts';
import { openTracing } from '../health/tracing.ts';
import { openAccessLog } from '../listen/accessLog.ts';
import { gatewayOptionsOf } from '../listen/gatewayOptions.ts';
import { openPublicListener } from '../listen/openListeners.ts';
import type { Beginning, WorkerCalls } from './calls.ts';
import { type FollowedNetwork, followNetwork, type ToPrimary } from './followNetwork.ts';
import { RemoteFilterMemory } from './subscriptionMemory.ts';
import { openWorkerOperators } from './workerOperators.ts';

export type OpenLog = (
  level: Beginning['config']['log']['level'],
) => Promise<{ readonly logger: Logger; readonly droppedLines: () => number }>;

export interface WorkerServer {
  readonly url: string;
  refresh(): void;
  leave(how: Parameters<WorkerCalls['leave']>[0]): Promise<void>;
}

export interface WorkerServerDependencies {
  readonly primary: ToPrimary;
  readonly registry: Registry;
  readonly keys: ApiKeyReplica;
  readonly openLog: OpenLog;
  readonly states: ReadonlyMap<string, NetworkState>;
  readonly networks: Map<string, FollowedNetwork>;
}

/** Opens the stores and networks of a worker, and listens for clients of the gateway. */
export async function openWorker(
  beginning: Beginning,
  dependencies: WorkerServerDependencies,
): Promise<WorkerServer> {
  const { config } = beginning;
  const { registry, primary, networks, states, openLog } = dependencies;
  const { logger, droppedLines } = await openLog(config.log.level);
  logBackgroundFailures(logger);
  collectDefaultMetrics({ register: registry });
  countDroppedLogLines(registry, droppedLines);
  const storage = openGatewayStorage(config.dataDir, config.gateway.cacheDiskBytes);
  const metrics = new GatewayMetrics(registry);
  const keyUses = new LastUsedTracker({ timestampOf: timestampOfMillis }, storage.keys);
  metrics.keyCalls.used = (id) => keyUses.used(id);
  const table = servedTable(config, METHODS);
  for (const [name, { upstream }] of networksOf(config)) {
    const { answers } = storage;
    const network = await followNetwork(
      { name, upstream, config },
      { table, answers, metrics, logger, primary },
    );
    networks.set(name, network);
    const state = states.get(name);
    if (state !== undefined) network.follow(state);
  }
  const server = await listen(beginning, { ...dependencies, logger, metrics, storage });
  return {
    ...server,
    refresh() {
      storage.refresh();
      for (const network of networks.values()) network.refresh();
    },
    async leave(how) {
      await server.leave(how);
      for (const network of networks.values()) await network.stop();
      await keyUses.stop();
      await storage.close();
    },
  };
}

interface ListenDependencies extends WorkerServerDependencies {
  readonly logger: Logger;
  readonly metrics: GatewayMetrics;
  readonly storage: ReturnType<typeof openGatewayStorage>;
}

async function listen(
  { config, workers }: Beginning,
  { primary, registry, keys, networks, logger, metrics, storage }: ListenDependencies,
): Promise<Omit<WorkerServer, 'refresh'>> {
  const tracing = openTracing(config, { logger, registry });
  const clientAddress = clientAddressReader(config.http.trustedProxies);
  const readers = new Readers({
    maxBytes: config.http.maxUnsentBytes,
    sendTimeoutMs: config.http.sendTimeoutMs,
    clientAddress,
    metrics: registry,
    log: logger,
  });
  const unfinished = new UnfinishedMessages({
    processes: 1 + workers,
    clientAddress,
    metrics: registry,
    log: logger,
  });
  let isStopping = false;
  const gateway = new Gateway(gatewayOptionsOf(config), {
    networks: new Map([...networks].map(([name, { methods }]) => [name, methods])),
    live: new Map([...networks].map(([name, { live }]) => [name, live])),
    chainIdOf: (network) => decimalChainId(networks.get(network)?.pool.chainId),
    keys: config.rules.store === undefined ? storage.keys : new SharedKeys(keys),
    ...{ metrics, log: logger, tracer: tracing?.tracer, readers, unfinished },
    filterMemory: new RemoteFilterMemory(primary),
    rates: new LeasedRates((wanted) => primary.ask('take', wanted)),
    isStopping: () => isStopping,
  });
  const accessLog = await openAccessLog(config, { logger, registry, clientAddress });
  const operators = openWorkerOperators(config, { clientAddress });
  const listener = await openPublicListener(
    config,
    { gateway, operators },
    { logger, readers, unfinished, handled: accessLog?.handled },
  );
  return {
    url: listener.url,
    async leave({ isGentle, timeoutMs }) {
      isStopping = !isGentle;
      gateway.drain();
      operators?.endStreams();
      const deadlineMs = performance.now() + timeoutMs;
      if (isGentle) await listener.drain(deadlineMs);
      await listener.stop(isGentle ? performance.now() + config.stopTimeoutMs : deadlineMs);
      await accessLog?.close();
      operators?.close();
      await tracing?.stop();
    },
  };
}
