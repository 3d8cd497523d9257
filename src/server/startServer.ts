/** Composition root: opens the stores, starts guard and networks, listens, and closes all parts in reverse order. */

import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Config } from '../config/index.ts';
import { PostgresFleet } from '../dns/store/postgres/index.ts';
import { logBackgroundFailures } from '../platform/background/index.ts';
import type { Readiness } from '../platform/http/index.ts';
import { collectProcessMetrics } from '../platform/metrics/index.ts';
import { Scheduler } from '../platform/scheduler/index.ts';
import type { RulesStorage } from '../rules/index.ts';
import { Alerting } from './alerts/alerting.ts';
import type { MonitoredState } from './alerts/serverFaults.ts';
import type { ServerContext } from './base.ts';
import { NameFiles } from './console/nameFiles.ts';
import { openSessions } from './console/openSessions.ts';
import { type DataDirLock, lockDataDir } from './data/dataDirLock.ts';
import { checkOpenFiles } from './data/openFiles.ts';
import { openStores } from './data/openStores.ts';
import type { Dns } from './dns/dns.ts';
import { startGuard } from './dns/startGuard.ts';
import type { TestFlood } from './dns/testFlood.ts';
import type { Ethereum, EthereumParts } from './ethereum/ethereum.ts';
import { logChanges } from './ethereum/logChanges.ts';
import { FreeSpace, registerFreeSpaceMetrics } from './health/freeSpace.ts';
import { readinessOf } from './health/readiness.ts';
import { countDroppedLogLines, registerBuildInfo, registerServerMetrics } from './health/serverMetrics.ts';
import { storeBytes } from './health/storeBytes.ts';
import { StoreWatch } from './health/storeWatch.ts';
import { openTracing } from './health/tracing.ts';
import { listen } from './listen/listen.ts';
import { drainMsOf } from './listen/openListeners.ts';
import { RELAYED, relayPathOf } from './listen/relayedRequests.ts';
import { requestReadersOf } from './listen/requestReaders.ts';
import { openedPartsOf, registerRoleMetrics } from './roles.ts';
import { startGateway } from './startGateway.ts';
import { Teardown } from './teardown.ts';
import type { Tuning } from './tuning.ts';
import { checkWorkers, reloaded, workersOf } from './workers/workerConfig.ts';
import type { Workers } from './workers/workers.ts';

export interface Server {
  /** URL of the public listener, for example `http://127.0.0.1:8420`. */
  readonly url: string;
  /** URL for operators: `url`, or a separate listener such as `http://127.0.0.1:9420` or `unix:/run/floodgate.sock`. */
  readonly opsUrl: string;
  /** Addresses of the DNS listeners; empty if no account is configured for the guard. */
  readonly dnsAddresses: Dns['addresses'];
  /** Returns a link that signs in to the console with a token, once. Undefined if this server has no console. */
  readonly signInLink: ((token: string) => Promise<string>) | undefined;
  /** Returns whether an account has a rule in any mode. Resolves with false if this server has no rules store. */
  readonly hasRules: (accountId: string) => Promise<boolean>;
  readonly readiness: () => Readiness;
  /**
   * Reads the files of names again, and replaces the running workers by workers with another configuration. Logs the
   * changed options that need a restart.
   */
  readonly reload: (config: Config) => Promise<void>;
  /**
   * Serves requests for another `stopDelayMs`. Then stops accepting connections, ends each connection after its next
   * response, finishes running requests within `stopTimeoutMs`, and closes the stores.
   */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Returns the number of log lines that the logger dropped, for the metrics. */
  readonly droppedLogLines?: () => number;
  /** A flood that operators can start to try the guard. Default: none. */
  readonly testFlood?: TestFlood | undefined;
  /** Lock of the data folder, held and released by the caller. Default: the server acquires its own lock. */
  readonly lock?: DataDirLock;
  readonly tuning?: Tuning | undefined;
}

/** Starts all parts of this server. If one part fails to start, closes the others and rejects. */
export async function startServer(
  options: ServerOptions,
  parts: Partial<EthereumParts> = {},
): Promise<Server> {
  const teardown = new Teardown();
  try {
    return await startParts(openBase(options, teardown), options, parts);
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

/** Checks the options, locks the data folder and creates the metrics registry. */
function openBase(options: ServerOptions, teardown: Teardown): ServerContext {
  const { config, logger, droppedLogLines, lock, tuning = {} } = options;
  const own = requestReadersOf(config);
  const opened = openedPartsOf(config);
  const workerCount = workersOf(config, opened);
  const isRelayed = workerCount > 1 && relayPathOf(config) !== undefined;
  teardown.add(logBackgroundFailures(logger));
  if (lock === undefined) {
    const acquired = lockDataDir(config.dataDir);
    teardown.add(() => acquired.release());
  }
  checkOpenFiles();
  const freeSpace = new FreeSpace({ dataDir: config.dataDir, log: logger, readSpace: tuning.readSpace });
  teardown.add(() => freeSpace.stop());
  const registry = new Registry();
  teardown.add(() => registry.clear());
  collectProcessMetrics(registry);
  countDroppedLogLines(registry, droppedLogLines);
  registerBuildInfo(registry);
  registerRoleMetrics(registry, opened);
  registerFreeSpaceMetrics(registry, freeSpace);
  return {
    config,
    logger,
    registry,
    opened,
    tuning,
    freeSpace,
    teardown,
    workerCount,
    isRelayed,
    scheduler: new Scheduler({ sharesProcessors: workerCount > 1 }),
    ...(isRelayed ? RELAYED : own),
  };
}

async function startParts(
  base: ServerContext,
  { testFlood }: ServerOptions,
  parts: Partial<EthereumParts>,
): Promise<Server> {
  const { config, logger, registry, opened, freeSpace, teardown } = base;
  const nameFiles = new NameFiles(config.console);
  const { storage, tokenUses } = await openStores(base);
  const console = openSessions(base, { storage, tokenUses });
  const alerting = await Alerting.open(config, base);
  teardown.add(() => alerting?.stop());
  const fleet = storage?.shared && new PostgresFleet(storage.shared);
  const starting = startGuard(base, { storage, fleet, onAttack: (event) => alerting?.attack(event) });
  const tracing = openTracing(config, base);
  teardown.add(() => tracing?.stop());
  const tracer = tracing?.tracer;
  const { ethereum, workers } = await startGateway(base, { storage, console, tracer, parts });
  const dns = await starting;
  const changes = { audit: storage?.audit, keys: ethereum?.keys, log: logger };
  teardown.add(await logChanges({ ...changes, dns }));
  const stores = watchStores(base, storage);
  const stopLooking = alerting?.watch({
    state: () => ({ networks: networksOf(ethereum), storeProblem: stores.problem }),
    attacks: dns?.attacks() ?? [],
    tokens: storage?.tokens,
  });
  teardown.add(() => stopLooking?.());
  let isLeaving = false;
  const readiness = (): Readiness =>
    readinessOf({
      stores,
      freeSpace,
      ethereum,
      dns,
      workers,
      isStopping: isLeaving,
      keysProblem: opened.has('gateway') ? keysProblemOf(storage) : undefined,
    });
  registerServerMetrics(registry, {
    isReady: () => readiness().ready,
    takesWrites: () => stores.problem === undefined,
    storeBytes: () => storeBytes(config.dataDir),
  });
  const { gateway, listeners } = await listen(base, {
    storage,
    tokenUses,
    fleet,
    ethereum,
    workers,
    dns,
    tracer,
    readiness,
    console,
    testFlood,
    nameFiles,
    alerting,
  });
  teardown.add(async () => {
    isLeaving = true;
    if (config.stopDelayMs > 0) {
      logger.info({ stopDelayMs: config.stopDelayMs }, 'stopping after a delay');
      await setTimeout(config.stopDelayMs);
    }
    gateway?.drain();
    await listeners.stop(config.stopTimeoutMs, drainMsOf(config));
  });
  const { url, opsUrl } = listeners;
  const networks = [...(ethereum?.networks.keys() ?? [])];
  logger.info({ url, opsUrl, dataDir: resolve(config.dataDir), roles: opened.roles, networks }, 'listening');
  return {
    url,
    opsUrl,
    dnsAddresses: dns?.addresses ?? [],
    readiness,
    signInLink: console && (async (token) => `${opsUrl}/console/#code=${await console.newLink(token)}`),
    hasRules: async (account) => storage !== undefined && (await storage.rules.list(account)).length > 0,
    reload: async (now) => {
      const replaceNames = nameFiles.reload(now.console);
      await reloadOptions(base, workers, now);
      replaceNames();
    },
    stop: () => teardown.run(),
  };
}

/** Returns a text if no API key is known yet, because the database was away since the start. */
const keysProblemOf = (storage: RulesStorage | undefined): string | undefined =>
  storage?.shared?.keys.ageMs === Number.POSITIVE_INFINITY
    ? 'API keys are unknown until the rules database is reachable'
    : undefined;

function watchStores({ config, teardown }: ServerContext, storage: RulesStorage | undefined): StoreWatch {
  const stores = new StoreWatch({
    dataDir: config.dataDir,
    probe: () => probe(storage),
    isShared: storage?.isShared ?? false,
  });
  teardown.add(() => stores.stop());
  return stores;
}

/** Rejects with the reason and the age of the data in use if the rules store does not accept writes. */
async function probe(storage: RulesStorage | undefined): Promise<void> {
  try {
    await storage?.probe();
  } catch (error) {
    const age = storage?.staleSeconds;
    if (age === undefined || !(error instanceof Error)) throw error;
    throw new Error(`${error.message}; the data in use is ${age} s old`, { cause: error });
  }
}

async function reloadOptions(
  { config, logger, opened }: ServerContext,
  workers: Workers | undefined,
  now: Config,
): Promise<void> {
  const { config: next, ignored } = reloaded(config, now, workers !== undefined);
  if (workers) checkWorkers(next, workers.count, opened);
  if (ignored.length > 0)
    logger.warn({ options: ignored }, 'changed options need a restart, and are ignored until then');
  await workers?.reload(next);
}

const networksOf = (ethereum: Ethereum | undefined): MonitoredState['networks'] =>
  new Map(
    [...(ethereum?.networks ?? [])].map(([name, network]) => [
      name,
      {
        nodes: network.pool.nodes,
        notReady: network.notReady(),
        unavailable: network.unavailable(),
      },
    ]),
  );
