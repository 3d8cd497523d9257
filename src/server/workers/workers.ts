import cluster from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { Counter, type Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import type { HeadChange } from '../../ethereum/ingest/index.ts';
import { awaitedLater, inBackground } from '../../platform/background/index.ts';
import { addEndedProcess, gaugesOf, type MetricJson, sumMetrics } from '../../platform/metrics/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import type { OpenedSessions } from '../console/openSessions.ts';
import type { EthereumNetwork, NetworkState, Replicas } from '../ethereum/ethereumNetwork.ts';
import type { Beginning } from './calls.ts';
import { primaryCalls } from './primaryCalls.ts';
import { Restarts } from './restarts.ts';
import { partOf } from './workerConfig.ts';
import { PING_MS, type SharedCalls, WorkerProcess, type WorkerProcessDependencies } from './workerProcess.ts';

/** Timeout for reading a worker's metrics. After it, the metrics that were last read are used. */
const READ_TIMEOUT_MS = 2_000;

export interface WorkersDependencies extends Pick<WorkerProcessDependencies, 'keys' | 'logger'> {
  readonly registry: Registry;
  readonly findAccess: OpenedSessions['findAccess'] | undefined;
}

/** The workers of this first process. They serve the gateway, and follow the nodes and the index of this process. */
export class Workers implements Replicas {
  readonly count: number;
  readonly #dependencies: WorkersDependencies;
  readonly #calls: SharedCalls;
  readonly #workers = new Set<WorkerProcess>();
  readonly #restarts = new Restarts();
  readonly #restarted: Counter;
  readonly #reloads = new SerialQueue();
  readonly #stop = new AbortController();
  /** The last state of each network that was sent to workers, and its text, by which a change is detected. */
  readonly #states = new Map<string, { readonly state: NetworkState; readonly text: string }>();
  #config: Config;
  /** The networks of the first process. Empty before `start`. */
  #networks: ReadonlyMap<string, EthereumNetwork> = new Map();
  /** Summed counters of the workers that have ended. */
  #ended: Promise<readonly MetricJson[]> = Promise.resolve([]);
  #ticking: NodeJS.Timeout | undefined;
  #tickedMs = 0;

  constructor({ config, workers }: Beginning, dependencies: WorkersDependencies) {
    const { registry, findAccess } = dependencies;
    this.count = workers;
    this.#config = config;
    this.#dependencies = dependencies;
    const calls = primaryCalls((name) => {
      const network = this.#networks.get(name);
      if (network === undefined) throw new Error(`network ${name} is not configured`);
      return network;
    });
    const consoleAccess: SharedCalls['consoleAccess'] = async (secret) => findAccess?.(secret);
    this.#calls = { ...calls, consoleAccess, accepted: (transaction) => this.#accepted(transaction) };
    const gauge = gaugesOf(registry);
    gauge('floodgate_workers', 'Configured workers.', () => workers);
    gauge('floodgate_workers_ready', 'Workers that answer.', () => this.#ready);
    this.#restarted = new Counter({
      name: 'floodgate_worker_restarts_total',
      help: 'Workers that ended by themselves or were killed, and were replaced.',
      registers: [registry],
    });
  }

  /**
   * Starts the workers, which follow these networks. Resolves with their address when all listen. If one cannot start,
   * ends all and rejects with its error.
   */
  async start(networks: ReadonlyMap<string, EthereumNetwork>): Promise<{ readonly url: string }> {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    cluster.setupPrimary({ serialization: 'advanced' });
    this.#networks = networks;
    for (const name of networks.keys()) this.stateChanged(name);
    this.#ticking = setInterval(() => this.#tick(), PING_MS).unref();
    try {
      // A common failure, such as a port in use, would affect all workers, so the first one starts alone.
      const where = await this.#begin(0).listens;
      await Promise.all(Array.from({ length: this.count - 1 }, (_, i) => this.#begin(i + 1).listens));
      return where;
    } catch (error) {
      await this.stop(performance.now());
      throw error;
    }
  }

  /** Returns a text such as `1 of 2 workers answer` if not all workers listen; undefined if all do. */
  missing(): string | undefined {
    return this.#ready >= this.count ? undefined : `${this.#ready} of ${this.count} workers answer`;
  }

  stateChanged(name: string): void {
    const state = this.#networks.get(name)?.state();
    if (state === undefined) return;
    const text = textOf(state);
    if (text === this.#states.get(name)?.text) return;
    this.#states.set(name, { state, text });
    for (const { link } of this.#following) link.tell('state', { network: name, state });
  }

  followed(network: string, change: HeadChange): void {
    for (const { link, wanted } of this.#workers)
      if (wanted.has(network)) link.tell('followed', { network, change });
  }

  async settled(): Promise<void> {
    for (const name of this.#states.keys()) this.stateChanged(name);
    await Promise.all(
      this.#following.map((worker) => {
        worker.sendKeys();
        // This call rejects if the worker ends. An ended worker needs no state.
        return worker.link.ask('settle', undefined).catch(() => undefined);
      }),
    );
  }

  async metrics(): Promise<Registry> {
    await Promise.all(
      [...this.#workers].map(async (worker) => {
        const read = await inTime(worker.link.ask('metrics', undefined));
        if (read !== undefined && !worker.isLeaving) worker.metrics = read;
      }),
    );
    const ended = await this.#ended;
    return sumMetrics(this.#dependencies.registry, [
      ended,
      ...[...this.#workers].map(({ metrics }) => metrics),
    ]);
  }

  /**
   * Replaces the workers, one at a time, by workers with another configuration. If a new worker cannot start, rejects
   * and keeps the workers that are not replaced yet.
   */
  reload(config: Config): Promise<void> {
    return this.#reloads.run(async () => {
      const before = this.#config;
      this.#config = config;
      for (let number = 0; number < this.count && !this.#isStopping; number++) {
        const old = this.#numbered(number);
        await this.#begin(number).listens.catch((error: unknown) => {
          this.#config = before;
          throw error;
        });
        for (const worker of old) await worker.leave({ isGentle: true, timeoutMs: config.stopTimeoutMs });
      }
    });
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stop.abort();
    const timeoutMs = Math.max(0, deadlineMs - performance.now());
    await Promise.all([...this.#workers].map((worker) => worker.leave({ isGentle: false, timeoutMs })));
    clearInterval(this.#ticking);
  }

  async #accepted(transaction: Parameters<SharedCalls['accepted']>[0]): Promise<void> {
    // A call rejects if the worker ends.
    const told = this.#following.map(({ link }) => link.ask('accepted', transaction).catch(() => undefined));
    await Promise.all(told);
  }

  get #isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  get #following(): WorkerProcess[] {
    return [...this.#workers].filter(({ isFollowing }) => isFollowing);
  }

  get #ready(): number {
    return new Set([...this.#workers].filter((one) => one.isListening).map(({ number }) => number)).size;
  }

  #numbered(number: number): WorkerProcess[] {
    return [...this.#workers].filter((worker) => worker.number === number);
  }

  #tick(): void {
    const nowMs = performance.now();
    // A late tick shows that this process was blocked. It may then not have read replies, so a missing reply proves
    // nothing.
    const isLate = nowMs - this.#tickedMs > 2 * PING_MS;
    this.#tickedMs = nowMs;
    for (const worker of this.#workers) {
      worker.sendKeys();
      if (!isLate) worker.ping();
    }
  }

  #begin(number: number): WorkerProcess {
    const { logger, keys } = this.#dependencies;
    const worker = new WorkerProcess(
      { number, config: partOf(this.#config, this.count), workers: this.count },
      { calls: this.#calls, states: this.#states, keys, logger },
    );
    this.#workers.add(worker);
    inBackground('end of a worker', async () => {
      const { code, signal } = await worker.ended;
      this.#workers.delete(worker);
      this.#ended = awaitedLater(this.#ended.then((ended) => addEndedProcess(ended, worker.metrics)));
      if (!worker.isListening || this.#isStopping) return;
      logger.error({ pid: worker.pid, code, signal }, 'worker ended: another is started');
      await this.#beginAgain(number, performance.now() - worker.startedMs);
    });
    return worker;
  }

  async #beginAgain(number: number, livedMs: number): Promise<void> {
    for (let lastMs = livedMs; ; lastMs = 0) {
      const pauseMs = this.#restarts.pauseMs(number, lastMs);
      await pause(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      // A reload may have started a worker with this number.
      if (this.#isStopping || this.#numbered(number).length > 0) return;
      this.#restarted.inc();
      const worker = this.#begin(number);
      try {
        await worker.listens;
        return;
      } catch (error) {
        this.#dependencies.logger.error({ err: error }, 'worker could not start: retrying');
        await worker.ended;
      }
    }
  }
}

/** Resolves with the reply of a worker; with undefined if the call fails or exceeds `READ_TIMEOUT_MS`. */
const inTime = <T>(asked: Promise<T>): Promise<T | undefined> =>
  Promise.race([asked.catch(() => undefined), pause(READ_TIMEOUT_MS, undefined, { ref: false })]);

/** Returns a text that differs for different network states. Omits block hashes, which follow from the head. */
const textOf = ({ pool, ...rest }: NetworkState): string =>
  JSON.stringify({ ...rest, pool: { ...pool, heads: { ...pool.heads, hashes: [] } } });
