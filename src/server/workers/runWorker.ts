import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { networksOf } from '../../config/index.ts';
import {
  ApiKeyReplica,
  FilterMemory,
  GatewayMetrics,
  LeasedRates,
  METHODS,
  SharedKeys,
} from '../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import { clientAddressReader, httpsReader } from '../../platform/addresses/index.ts';
import { logBackgroundFailures } from '../../platform/background/index.ts';
import { LastUsedTracker } from '../../platform/lastUses/index.ts';
import { QUIET } from '../../platform/logging/index.ts';
import { collectProcessMetrics } from '../../platform/metrics/index.ts';
import { Scheduler } from '../../platform/scheduler/index.ts';
import { SessionCookies } from '../../rules/api/index.ts';
import { timestampOfMillis } from '../../rules/index.ts';
import { ConsoleGateway } from '../console/consoleGateway.ts';
import { servedTable } from '../ethereum/ethereum.ts';
import type { NetworkState } from '../ethereum/ethereumNetwork.ts';
import { FreeSpace } from '../health/freeSpace.ts';
import { countDroppedLogLines } from '../health/serverMetrics.ts';
import { openTracing } from '../health/tracing.ts';
import { openAccessLog } from '../listen/accessLog.ts';
import { httpLimitsOf, openGateway } from '../listen/openGateway.ts';
import { drainMsOf, openPublicListener } from '../listen/openListeners.ts';
import { relayedOperators } from '../listen/relayedOperators.ts';
import type { Beginning, PrimaryCalls, ToPrimary, WorkerCalls } from './calls.ts';
import { type FollowedNetwork, followNetwork } from './followNetwork.ts';
import { Link, type Message } from './link.ts';

type OpenLog = (
  level: Beginning['config']['log']['level'],
) => Promise<{ readonly logger: Logger; readonly droppedLines: () => number }>;

/** Serves the gateway in a process that the first process forked, and ends with it. Never resolves. */
export function runWorker(openLog: OpenLog): Promise<never> {
  const registry = new Registry();
  const keys = new ApiKeyReplica();
  /** The last received state of each network, also of networks that are not open yet. */
  const states = new Map<string, NetworkState>();
  const networks = new Map<string, FollowedNetwork>();
  let server: WorkerServer | undefined;
  let opening: Promise<WorkerServer> | undefined;
  const primary: ToPrimary = new Link<WorkerCalls, PrimaryCalls>((message) => process.send?.(message), {
    async begin(beginning) {
      opening = openWorker(beginning, { primary, registry, keys, openLog, states, networks });
      server = await opening;
      return { url: server.url };
    },
    ping: () => undefined,
    state({ network, state }) {
      states.set(network, state);
      networks.get(network)?.follow(state);
    },
    keys: (changes) => keys.apply(changes),
    accepted: ({ network, ...transaction }) => networks.get(network)?.accepted(transaction),
    followed: ({ network, change }) => networks.get(network)?.followed(change),
    settle: () => server?.refresh(),
    metrics: () => registry.getMetricsAsJSON(),
    async leave(how) {
      await opening?.then((opened) => opened.leave(how)).catch(() => undefined);
      return registry.getMetricsAsJSON();
    },
  });
  process.on('message', (message) => primary.received(message as Message)); // the first process sends only this type
  primary.tell('up', undefined);
  return new Promise<never>(() => undefined);
}

type WorkerServer = Awaited<ReturnType<typeof openWorker>>;

interface WorkerServerDependencies {
  readonly primary: ToPrimary;
  readonly registry: Registry;
  readonly keys: ApiKeyReplica;
  readonly openLog: OpenLog;
  readonly states: ReadonlyMap<string, NetworkState>;
  readonly networks: Map<string, FollowedNetwork>;
}

/** Opens the stores and networks of a worker, and listens for clients of the gateway. */
async function openWorker(
  { config, workers }: Beginning,
  { registry, primary, keys, networks, states, openLog }: WorkerServerDependencies,
) {
  const { logger, droppedLines } = await openLog(config.log.level);
  logBackgroundFailures(logger);
  collectProcessMetrics(registry);
  countDroppedLogLines(registry, droppedLines);
  // The first process logs the state.
  const freeSpace = new FreeSpace({ dataDir: config.dataDir, log: QUIET });
  const storage = openGatewayStorage(config.dataDir, config.gateway.cacheDiskBytes, () =>
    freeSpace.allows('caches'),
  );
  const metrics = new GatewayMetrics(registry);
  const keyUses = new LastUsedTracker({ timestampOf: timestampOfMillis }, storage.keys);
  metrics.keyCalls.used = (id) => keyUses.used(id);
  const filterMemory = new FilterMemory({
    processes: workers,
    refused: () => metrics.limited('filter_bytes'),
  });
  metrics.watchFilterBytes(() => filterMemory.total);
  const table = servedTable(config, METHODS);
  for (const [name, { upstream }] of networksOf(config)) {
    const parts = { table, answers: storage.answers, metrics, logger };
    const network = await followNetwork({ name, upstream, config, workers }, parts, primary);
    networks.set(name, network);
    const state = states.get(name);
    if (state !== undefined) network.follow(state);
  }
  const tracing = openTracing(config, { logger, registry });
  const clientAddress = clientAddressReader(config.http.trustedProxies);
  const scheduler = new Scheduler({ sharesProcessors: true });
  const limits = httpLimitsOf(
    config,
    { workers },
    { clientAddress, metrics: registry, log: logger, scheduler },
  );
  const gateway = openGateway(config, {
    networks,
    metrics,
    filterMemory,
    log: logger,
    tracer: tracing?.tracer,
    ...limits,
    keys: config.rules.store === undefined ? storage.keys : new SharedKeys(keys, config.gateway.keysGraceMs),
    rates: new LeasedRates((wanted) => primary.ask('take', wanted)),
  });
  const accessLog = await openAccessLog(config, { logger, registry, clientAddress });
  const isHttps = httpsReader(config.http.trustedProxies);
  const operators = relayedOperators(config, { clientAddress, isHttps });
  const hasConsole = operators !== undefined && config.console.enabled;
  const findAccess = (secret: string) => primary.ask('consoleAccess', secret);
  const cookies = new SessionCookies(isHttps);
  const served = hasConsole ? new ConsoleGateway({ gateway, cookies, findAccess }) : gateway;
  const listener = await openPublicListener(
    config,
    { gateway: served, operators },
    { logger, ...limits, handled: accessLog?.handled },
  );
  return {
    url: listener.url,
    refresh() {
      storage.refresh();
      for (const network of networks.values()) network.refresh();
    },
    async leave({ isGentle, timeoutMs }: Parameters<WorkerCalls['leave']>[0]) {
      gateway.drain();
      operators?.endStreams();
      const deadlineMs = performance.now() + timeoutMs;
      if (isGentle) await listener.drain(deadlineMs);
      await listener.stop(
        isGentle ? performance.now() + config.stopTimeoutMs : deadlineMs,
        drainMsOf(config),
      );
      await accessLog?.close();
      operators?.close();
      await tracing?.stop();
      for (const network of networks.values()) await network.stop();
      await keyUses.stop();
      freeSpace.stop();
      await storage.close();
    },
  };
}
