import { Registry } from 'prom-client';
import type { FleetStore } from '../../dns/fleet/index.ts';
import type { Gateway } from '../../ethereum/gateway/index.ts';
import type { Readiness } from '../../platform/http/index.ts';
import type { Tracer } from '../../platform/spans/index.ts';
import type { AlertReports } from '../../rules/api/index.ts';
import type { ServerContext } from '../base.ts';
import { ConsoleGateway } from '../console/consoleGateway.ts';
import type { NameFiles } from '../console/nameFiles.ts';
import type { OpenedSessions } from '../console/openSessions.ts';
import type { Stores } from '../data/openStores.ts';
import type { Dns } from '../dns/dns.ts';
import { dnsDescriptorsOf } from '../dns/dnsOptions.ts';
import type { TestFlood } from '../dns/testFlood.ts';
import type { Ethereum } from '../ethereum/ethereum.ts';
import { HealthHistory } from '../health/healthHistory.ts';
import { openAccessLog } from './accessLog.ts';
import { opsListenAddress } from './listenAddresses.ts';
import { httpLimitsOf, openGateway } from './openGateway.ts';
import { type Listeners, openListeners } from './openListeners.ts';
import { operatorRoutes, operatorsPathsOf } from './operatorRoutes.ts';

/** The workers, which serve the gateway instead of this process. */
export interface WorkerListeners {
  start(networks: Ethereum['networks']): Promise<{ readonly url: string }>;
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
  readonly console: OpenedSessions | undefined;
  readonly testFlood: TestFlood | undefined;
  readonly nameFiles: NameFiles;
  readonly readiness: () => Readiness;
  /** Undefined if no webhook is configured. */
  readonly alerting: AlertReports | undefined;
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
  const { fleet, tracer, console, testFlood, nameFiles } = parts;
  const metrics = (): Promise<Registry> | Registry => workers?.metrics() ?? registry;
  const history = new HealthHistory({}, { dataDir: config.dataDir, metrics, readiness, ethereum, dns });
  teardown.add(() => history.stop());
  const accessLog = base.isRelayed
    ? undefined
    : await openAccessLog(config, { logger, registry, clientAddress });
  teardown.add(() => accessLog?.close());
  const first = {
    dnsDescriptors: dns === undefined ? 0 : dnsDescriptorsOf(config),
    hasTwoListeners: workers === undefined && opened.has('gateway') && opsListenAddress(config) !== undefined,
  };
  const limits = { workers: base.workerCount, first };
  const bounds = httpLimitsOf(config, limits, {
    // Workers count the requests that they relay to this process, so this process does not export its own count.
    metrics: base.isRelayed ? new Registry() : registry,
    clientAddress,
    log: logger,
    scheduler: base.scheduler,
  });
  const gateway =
    ethereum && opened.has('gateway')
      ? openGateway(config, { ...ethereum, ...bounds, tracer, log: logger }, tuning)
      : undefined;
  const operators = operatorRoutes(config, {
    opened,
    storage,
    ethereum,
    dns,
    fleet,
    registry,
    metrics,
    clientAddress,
    readiness,
    history,
    logger,
    tracer,
    console,
    testFlood,
    nameFiles,
    tuning,
    uses: tokenUses,
    alerting: parts.alerting,
    keysSettled: async () => workers?.settled(),
  });
  const elsewhere =
    workers &&
    ethereum &&
    (async () => {
      const { url } = await workers.start(ethereum.networks);
      return { url, stop: (deadlineMs: number) => workers.stop(deadlineMs) };
    });
  const listeners = await openListeners(
    config,
    {
      gateway,
      operatorsGateway: gateway && console && new ConsoleGateway({ gateway, ...console }),
      operators,
      operatorsPaths: operatorsPathsOf(opened),
      startWorkers: elsewhere,
    },
    { logger, ...bounds, handled: accessLog?.handled },
  );
  return { gateway, listeners };
}
