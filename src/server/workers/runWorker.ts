import type { Logger } from 'pino';
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import { networksOf } from '../../config/index.ts';
import { Gateway, GatewayMetrics, METHODS, SharedKeys } from '../../ethereum/gateway/index.ts';
import { openGatewayStorage } from '../../ethereum/store/lmdb/gateway/index.ts';
import { clientAddressBehind } from '../../platform/addresses/index.ts';
import { Readers } from '../../platform/http/index.ts';
import { LastUses } from '../../platform/lastUses/index.ts';
import { timestampOfMillis } from '../../rules/index.ts';
import { openAccessLog } from '../accessLog.ts';
import { decimalChainId } from '../decimalChainId.ts';
import { servedTable } from '../ethereum.ts';
import { openPublicListener } from '../openListeners.ts';
import { countDroppedLogLines } from '../serverMetrics.ts';
import { openTracing } from '../tracing.ts';
import type { Beginning, PrimaryCalls, State, WorkerCalls } from './calls.ts';
import { type FollowedNetwork, followNetwork, type ToPrimary } from './followNetwork.ts';
import { HeldCalls } from './heldCalls.ts';
import { LeasedRates } from './leasedRates.ts';
import { Link, type Message } from './link.ts';
import { ToldKeys } from './toldKeys.ts';
import { openWorkerOperators } from './workerOperators.ts';

/** Opens the log of a process. */
export type OpenLog = (
  level: Beginning['config']['log']['level'],
) => Promise<{ readonly logger: Logger; readonly droppedLines: () => number }>;

/** Where the primary is: the channel that it has forked this process with. */
export interface ToParent {
  readonly send: (message: unknown) => void;
  readonly onMessage: (listener: (message: unknown) => void) => void;
}

/** A worker that listens. */
interface Listening {
  shed(share: number): void;
  leave(how: Parameters<WorkerCalls['leave']>[0]): Promise<void>;
}

/** Answers the gateway for the primary that has forked this process, and ends with it. Never resolves. */
export function runWorker(parent: ToParent, openLog: OpenLog): Promise<never> {
  const hold = new HeldCalls();
  const networks = new Map<string, FollowedNetwork>();
  const registry = new Registry();
  const toldKeys = new ToldKeys();
  let state: State = new Map();
  const follow = (now: State): void => {
    state = now;
    for (const [name, network] of networks) {
      const known = state.get(name);
      if (known !== undefined) network.follow(known);
    }
  };
  let refresh = (): void => undefined;
  let takeUses: WorkerCalls['takeUses'] = () => new Map();
  let listening: Promise<Listening> | undefined;
  let loop = performance.eventLoopUtilization();
  const primary: ToPrimary = new Link<WorkerCalls, PrimaryCalls>((message) => parent.send(message), {
    begin(beginning) {
      state = beginning.state;
      if (beginning.keys !== undefined) toldKeys.follow(beginning.keys);
      listening = begin(beginning);
      listening.catch((error: unknown) => {
        const { name, message } = error instanceof Error ? error : new Error(String(error));
        primary.tell('failed', { name, message });
      });
    },
    hold: () => hold.begin(),
    resume(now) {
      refresh();
      follow(now);
      hold.end();
    },
    keys: (changes) => toldKeys.follow(changes),
    followed: ({ network, change }) => networks.get(network)?.followed(change),
    metrics: () => registry.getMetricsAsJSON(),
    busy() {
      const before = loop;
      loop = performance.eventLoopUtilization();
      return performance.eventLoopUtilization(loop, before).utilization;
    },
    shed: (share) => void listening?.then((one) => one.shed(share)).catch(() => undefined),
    takeUses: () => takeUses(undefined),
    async leave(how) {
      await listening?.then((one) => one.leave(how)).catch(() => undefined);
      return registry.getMetricsAsJSON();
    },
  });
  parent.onMessage((message) => primary.received(message as Message)); // of the primary, which sends no other;
  primary.tell('up', undefined);
  // The process ends when the primary lets go of it, or is gone.
  return new Promise<never>(() => undefined);

  async function begin({ config }: Beginning): Promise<Listening> {
    const { logger, droppedLines } = await openLog(config.log.level);
    collectDefaultMetrics({ register: registry });
    countDroppedLogLines(registry, droppedLines);
    const tracing = openTracing(config, { logger, registry });
    const clientAddress = clientAddressBehind(config.http.trustedProxies);
    const storage = openGatewayStorage(config.dataDir, config.gateway.cacheDiskBytes);
    refresh = () => storage.refresh();
    const metrics = new GatewayMetrics(registry);
    const keyUses = new LastUses({ timestampOf: timestampOfMillis }, storage.keys);
    metrics.keyCalls.used = (id) => keyUses.used(id);
    const table = servedTable(config, METHODS);
    for (const [name, { upstream }] of networksOf(config)) {
      const network = await followNetwork(
        { name, upstream, config },
        { table, answers: storage.answers, metrics, logger, primary },
      );
      // Nothing is awaited in between: a state that comes from here on is followed.
      networks.set(name, network);
      const known = state.get(name);
      if (known !== undefined) network.follow(known);
    }
    const readers = new Readers({
      maxBytes: config.http.maxUnsentBytes,
      maxBytesPerClient: config.http.maxUnsentBytesPerAddress,
      sendTimeoutMs: config.http.sendTimeoutMs,
      clientAddress,
      metrics: registry,
      log: logger,
    });
    let isStopping = false;
    const gateway = new Gateway(
      { ...config.gateway, trustedProxies: config.http.trustedProxies },
      {
        networks: new Map([...networks].map(([name, { methods }]) => [name, methods])),
        live: new Map([...networks].map(([name, { live }]) => [name, live])),
        chainIdOf: (network) => decimalChainId(networks.get(network)?.pool.chainId),
        keys: config.rules.store === undefined ? storage.keys : new SharedKeys(toldKeys),
        ...{ metrics, log: logger, tracer: tracing?.tracer, readers, hold },
        rates: new LeasedRates((wanted) => primary.ask('take', wanted)),
        isStopping: () => isStopping,
      },
    );
    const accessLog = await openAccessLog(config, { logger, registry, clientAddress });
    const operators = await openWorkerOperators(config, {
      ...{ primary, clientAddress, registry, logger },
      tracer: tracing?.tracer,
    });
    if (operators !== undefined) takeUses = () => operators.takeUses();
    const listener = await openPublicListener(
      config,
      { gateway, operators },
      {
        logger,
        readers,
        handled: accessLog?.handled,
      },
    );
    const shed = new Counter({
      name: 'floodgate_worker_connections_shed_total',
      help: 'Connections that a worker closed behind an answer, as it had more to do than others.',
      registers: [registry],
    });
    primary.tell('listening', { url: listener.url });
    return {
      shed: (share) => listener.shed(share, () => shed.inc()),
      async leave({ isGentle, timeoutMs }) {
        isStopping = !isGentle;
        gateway.drain();
        operators?.endStreams();
        const deadlineMs = performance.now() + timeoutMs;
        if (isGentle) await listener.drain(deadlineMs);
        await listener.stop(isGentle ? performance.now() + config.stopTimeoutMs : deadlineMs);
        await accessLog?.close();
        await operators?.close();
        for (const network of networks.values()) await network.stop();
        await keyUses.stop();
        await storage.close();
        await tracing?.stop();
      },
    };
  }
}
