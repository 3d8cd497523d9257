/**
 * The composition root: the only place that knows every room. It opens the stores, starts the ingest, puts both
 * interfaces on their listeners, and takes everything down again in the reverse order.
 */
import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { type Config, ConfigError } from '../config/index.ts';
import type { SignInCode } from '../console/index.ts';
import { PostgresFleet } from '../dns/store/postgres/index.ts';
import { Gateway, SharedKeys } from '../ethereum/gateway/index.ts';
import { clientAddressBehind } from '../platform/addresses/index.ts';
import { Readers, type Readiness } from '../platform/http/index.ts';
import { TokenUses } from '../rules/api/index.ts';
import { openAccessLog } from './accessLog.ts';
import { Alerting } from './alerts/alerting.ts';
import type { Looked } from './alerts/unwell.ts';
import { type DataDirLock, lockDataDir } from './dataDirLock.ts';
import { decimalChainId } from './decimalChainId.ts';
import { type Dns, startDns } from './dns.ts';
import { type Ethereum, type EthereumParts, OWN_PARTS, startEthereum } from './ethereum.ts';
import { HealthHistory } from './healthHistory.ts';
import { checkOpenFiles } from './openFiles.ts';
import { type ListenerParts, openListeners } from './openListeners.ts';
import { operatorRoutes, operatorsPathsOf } from './operatorRoutes.ts';
import { isOutOfService } from './outOfService.ts';
import { openedBy, showRoles } from './roles.ts';
import { openRulesStorage } from './rulesStorage.ts';
import { countDroppedLogLines, showBuild, showServer } from './serverMetrics.ts';
import { storeBytes } from './storeBytes.ts';
import { StoreWatch } from './storeWatch.ts';
import { tellChanges } from './tellChanges.ts';
import { openTracing } from './tracing.ts';
import { relayedClientAddress, relayPathOf } from './workers/operatorsRelay.ts';
import { reloadWorkers } from './workers/reloadWorkers.ts';
import { workersOf } from './workers/workerConfig.ts';
import { Workers } from './workers/workers.ts';

export interface Server {
  /** Where it listens, for example `http://127.0.0.1:8420`. */
  readonly url: string;
  /** Where operators reach it: the same, or `http://127.0.0.1:9420`, `unix:/run/floodgate.sock`. */
  readonly opsUrl: string;
  /** Where the guard answers DNS; none where no account is configured for it. */
  readonly dnsAddresses: Dns['addresses'];
  readonly readiness: () => Readiness;
  /** Puts workers with another configuration in place of those that there are. Undefined where one process does everything. */
  readonly reload: ((config: Config) => Promise<void>) | undefined;
  /** Refuses what is new, finishes what runs (for at most `stopTimeoutMs`), closes the stores. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Lines that the logger had to drop, for the metrics. */
  readonly droppedLogLines?: () => number;
  /** Of the link to the console that is printed; none where there is none. */
  readonly signInCode?: SignInCode | undefined;
  /** A lock of the data folder that the caller holds, and releases; left out: the server takes one. */
  readonly lock?: DataDirLock;
}

/** Starts the whole of Floodgate. Rejects, with nothing left open, where a part cannot start. */
export async function startServer(
  { config, logger, droppedLogLines, signInCode, lock }: ServerOptions,
  parts: Partial<EthereumParts> = {},
): Promise<Server> {
  const undo: Array<() => Promise<void> | void> = [];
  const takeDown = async (): Promise<void> => {
    for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
  };
  const ownClientAddress = clientAddressOf(config);
  const opened = openedBy(config);
  const workerCount = workersOf(config, opened);
  /** All that this process is asked its workers bring, who count it and keep its log. */
  const isRelayed = workerCount > 1 && relayPathOf(config) !== undefined;
  const clientAddress = isRelayed ? relayedClientAddress : ownClientAddress;
  try {
    if (lock === undefined) {
      const own = lockDataDir(config.dataDir);
      undo.push(() => own.release());
    }

    checkOpenFiles(logger);
    const registry = new Registry();
    collectDefaultMetrics({ register: registry });
    countDroppedLogLines(registry, droppedLogLines);
    showBuild(registry);
    showRoles(registry, opened);
    undo.push(() => registry.clear());

    const rules = opened.has('rulesStore') ? await openRulesStorage(config, { logger, registry }) : undefined;
    undo.push(() => rules?.close());
    const storage = rules?.storage;
    const tokenUses =
      storage &&
      new TokenUses({
        lastUses: async () => {
          await workers?.countUses();
          return storage.tokens.lastUses();
        },
        noteUses: (uses) => storage.tokens.noteUses(uses),
      });
    undo.push(() => tokenUses?.stop());

    const alerting = await Alerting.open(config, { logger, registry });
    if (alerting !== undefined) undo.push(() => alerting.stop());

    const fleet = storage?.shared && new PostgresFleet(storage.shared);
    const { account } = config.dns;
    const startsDns =
      storage && account !== undefined && opened.has('guard')
        ? startDns(
            { config, account },
            {
              ...{ rules: storage.rules, lists: storage.lists, fleet, logger, registry },
              onAttack: (event) => alerting?.attack(event),
            },
          )
        : undefined;
    // Its threads start while the rest is opened: that it fails is heard below.
    const stopsDns = startsDns?.then(
      (started) => () => started.stop(),
      () => undefined,
    );
    undo.push(async () => (await stopsDns)?.());

    const tracing = openTracing(config, { logger, registry });
    undo.push(() => tracing?.stop());
    const tracer = tracing?.tracer;

    let ethereum: Ethereum | undefined;
    const workers =
      workerCount === 1
        ? undefined
        : new Workers(
            { count: workerCount, config },
            {
              ...{ logger, registry, tokenUses },
              keys: storage?.shared?.keys,
              ethereum() {
                if (ethereum === undefined) throw new Error('workers are started before what they follow');
                return ethereum;
              },
            },
          );
    if (opened.has('nodes')) {
      const started = await startEthereum(config, {
        ...{ logger, registry, tracer, opened, parts: { ...OWN_PARTS, ...parts }, followers: workers },
        sharedKeys: storage?.shared && new SharedKeys(storage.shared.keys),
      });
      undo.push(() => started.stop());
      ethereum = started;
    }

    undo.push(await tellChanges({ audit: storage?.audit, keys: ethereum?.keys, log: logger }));

    const dns = await startsDns;

    const stores = new StoreWatch({
      dataDir: config.dataDir,
      probe: async () => storage?.probe(),
      isShared: storage?.isShared ?? false,
    });
    undo.push(() => stores.stop());

    const stopLooking = alerting?.watch({
      looked: () => ({ networks: networksOf(ethereum), storeProblem: stores.problem }),
      attacks: dns?.attacks() ?? [],
      tokens: storage?.tokens,
    });
    undo.push(() => stopLooking?.());

    let stopping = false;
    const readiness = (): Readiness => {
      const missing = ethereum?.notReady();
      const checks = {
        store: stores.problem ?? 'ok',
        ...(ethereum && { ingest: missing ?? 'ok' }),
        // Told, and no reason to be kept out of service: DNS is answered whatever is missing here.
        ...(dns && { dns: dns.missing() ?? 'ok' }),
        ...(workers && { workers: workers.missing() ?? 'ok' }),
        ...(stopping && { server: 'it is stopping' }),
      };
      // What all servers share takes none of them out of service: reads, the gateway and the guard go on without it.
      const isBehind = missing !== undefined && isOutOfService(opened, ethereum);
      const isWhole = workers?.missing() === undefined;
      const isReady = !isBehind && stores.ownProblem === undefined && isWhole && !stopping;
      return { ready: isReady, checks };
    };

    showServer(registry, {
      isReady: () => readiness().ready,
      takesWrites: () => stores.problem === undefined,
      storeBytes: () => storeBytes(config.dataDir),
    });

    const metrics = (): Promise<Registry> | Registry => workers?.metrics() ?? registry;
    const history = new HealthHistory({}, { dataDir: config.dataDir, metrics, readiness, ethereum, dns });
    undo.push(() => history.stop());

    const accessLog = isRelayed
      ? undefined
      : await openAccessLog(config, { logger, registry, clientAddress });
    undo.push(() => accessLog?.close());

    const readers = new Readers({
      maxBytes: config.http.maxUnsentBytes,
      maxBytesPerClient: config.http.maxUnsentBytesPerAddress,
      sendTimeoutMs: config.http.sendTimeoutMs,
      clientAddress,
      metrics: isRelayed ? new Registry() : registry,
      log: logger,
    });
    const gateway =
      ethereum &&
      opened.has('gateway') &&
      new Gateway(
        { ...config.gateway, trustedProxies: config.http.trustedProxies },
        {
          networks: ethereum.methods,
          live: ethereum.live,
          chainIdOf: (network) => decimalChainId(ethereum.pools.get(network)?.chainId),
          keys: ethereum.keys,
          metrics: ethereum.metrics,
          log: logger,
          tracer,
          readers,
          isStopping: () => stopping,
        },
      );
    const operators = operatorRoutes(config, {
      ...{
        opened,
        storage,
        uses: tokenUses,
        ethereum,
        dns,
        fleet,
        registry,
        metrics,
        keysSettled: async () => workers?.settled(),
        clientAddress,
        readiness,
        history,
        logger,
        tracer,
      },
      signInCode,
    });
    const elsewhere: ListenerParts['elsewhere'] =
      workers &&
      (async () => {
        const { url } = await workers.start();
        return { url, stop: (deadlineMs) => workers.stop(deadlineMs) };
      });
    const listeners = await openListeners(
      config,
      { gateway: gateway || undefined, operators, operatorsPaths: operatorsPathsOf(opened), elsewhere },
      { logger, readers, handled: accessLog?.handled },
    );
    undo.push(async () => {
      stopping = true;
      if (gateway) gateway.drain();
      await listeners.stop(config.stopTimeoutMs);
    });
    const { url, opsUrl } = listeners;
    logger.info(
      {
        ...{ url, opsUrl, dataDir: resolve(config.dataDir), roles: opened.roles },
        networks: [...(ethereum?.methods.keys() ?? [])],
      },
      'listening',
    );
    const reload =
      workers && ((now: Config) => reloadWorkers(workers, { before: config, now, opened, logger }));
    return { url, opsUrl, dnsAddresses: dns?.addresses ?? [], readiness, reload, stop: takeDown };
  } catch (error) {
    await takeDown();
    throw error;
  }
}

const networksOf = (ethereum: Ethereum | undefined): Looked['networks'] =>
  new Map(
    [...(ethereum?.networks ?? [])].map(([name, network]) => [
      name,
      { nodes: network.pool.nodes, notReady: network.notReady() },
    ]),
  );

function clientAddressOf({ http }: Config): ReturnType<typeof clientAddressBehind> {
  try {
    return clientAddressBehind(http.trustedProxies);
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}
