import cluster from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { Counter, type Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import { leaseFrom, RateLimits, type Rates } from '../../ethereum/gateway/index.ts';
import type { HeadChange } from '../../ethereum/ingest/index.ts';
import { leaseFromNode, type UpstreamNode } from '../../ethereum/nodes/index.ts';
import { awaitedLater, inBackground } from '../../platform/background/index.ts';
import { addEndedProcess, gaugesOf, type MetricJson, sumMetrics } from '../../platform/metrics/index.ts';
import type { Scheduler } from '../../platform/scheduler/index.ts';
import { SerialQueue, sharedRuns } from '../../platform/serialQueue/index.ts';
import type { OpenedSessions } from '../console/openSessions.ts';
import type { EthereumNetwork, NetworkState, Replicas } from '../ethereum/ethereumNetwork.ts';
import type { Beginning, WorkerCalls } from './calls.ts';
import { partOf } from './workerConfig.ts';
import { PING_MS, type SharedCalls, WorkerProcess, type WorkerProcessDependencies } from './workerProcess.ts';

/** A client quota without a limit. Response memory is counted in the worker that sends the response, not here. */
const ROOM = { charge: () => true, credit: () => undefined, freeConnection: () => undefined };
/** Timeout for reading a worker's metrics. After it, the metrics that were last read are used. */
const READ_TIMEOUT_MS = 2_000;
/** Pause before a worker that ran less than `LIVED_MS` is replaced. One that fails at once would use a processor. */
const RESTART_PAUSE_MS = 1_000;
const LIVED_MS = 30_000;
export interface WorkersDependencies extends Pick<WorkerProcessDependencies, 'keys' | 'logger'> {
  readonly registry: Registry;
  /** Divides the processor time of this process among the clients of the workers. */
  readonly scheduler: Scheduler;
  readonly findAccess: OpenedSessions['findAccess'] | undefined;
}

/** The workers of this first process. They serve the gateway, and follow the nodes and the index of this process. */
export class Workers implements Replicas {
  readonly count: number;
  readonly #dependencies: WorkersDependencies;
  readonly #rates: Rates = new RateLimits();
  readonly #calls: SharedCalls = {
    newest: () => undefined,
    poll: ({ network, node }) => this.#networkOf(network).pool.refresh(this.#nodeOf(network, node)),
    found: ({ network, node, why }) => this.#networkOf(network).reportNodeFault(node, why),
    damaged: ({ network, part }) => this.#networkOf(network).noteDamage(part),
    ensure: async ({ network, fromBlock, toBlock, client }) =>
      this.#dependencies.scheduler.resultOf(client, () =>
        this.#networkOf(network).ensure(fromBlock, toBlock, client),
      ),
    charge: ({ network, blocks, client }) => this.#networkOf(network).charge(blocks, client),
    take: (wanted) => leaseFrom(this.#rates, wanted),
    takeOfNode: ({ network, node, ...wanted }) => {
      const { budget } = this.#nodeOf(network, node).client;
      if (budget === undefined) throw new Error(`node ${node} of ${network} has no budget`);
      return leaseFromNode(budget, wanted);
    },
    filter: async ({ network, method, params, address, ...who }) => {
      const served = this.#networkOf(network).methods.find(({ name }) => name === method);
      if (served === undefined) throw new Error(`method ${method} is not served`);
      const context = { mayStream: false, room: ROOM, address: () => address, ...who };
      const client = { address, keyId: who.keyId };
      const result = this.#dependencies.scheduler.resultOf(client, () => served.handle(params, context));
      return (await result) as Uint8Array; // bytes, as `mayStream` is false
    },
    consoleAccess: async (secret) => this.#dependencies.findAccess?.(secret),
    accepted: (transaction) => this.#callAll('accepted', transaction),
  };
  readonly #workers = new Set<WorkerProcess>();
  readonly #restarted: Counter;
  readonly #reloads = new SerialQueue();
  #isStopping = false;
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
    const { registry } = dependencies;
    this.count = workers;
    this.#config = config;
    this.#dependencies = dependencies;
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
    for (const worker of this.#following) worker.sendKeys();
    await this.#callAll('settle', undefined);
  }

  /** Returns the metrics of all processes. Concurrent calls share a result. */
  readonly metrics = sharedRuns(() => this.#readMetrics());

  async #readMetrics(): Promise<Registry> {
    await Promise.all(
      [...this.#workers].map(async (worker) => {
        const asked = worker.link.ask('metrics', undefined).catch(() => undefined);
        const read = await Promise.race([asked, pause(READ_TIMEOUT_MS, undefined, { ref: false })]);
        if (read !== undefined && !worker.isLeaving) worker.metrics = read;
      }),
    );
    const running = [...this.#workers].map(({ metrics }) => metrics);
    return sumMetrics(this.#dependencies.registry, [await this.#ended, ...running]);
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
    this.#isStopping = true;
    const timeoutMs = Math.max(0, deadlineMs - performance.now());
    await Promise.all([...this.#workers].map((worker) => worker.leave({ isGentle: false, timeoutMs })));
    clearInterval(this.#ticking);
  }

  #networkOf(name: string): EthereumNetwork {
    const network = this.#networks.get(name);
    if (network === undefined) throw new Error(`network ${name} is not configured`);
    return network;
  }

  #nodeOf = (network: string, number: number): UpstreamNode => {
    const node = this.#networkOf(network).pool.nodes[number];
    if (node === undefined) throw new Error(`network ${network} has no node ${number}`);
    return node;
  };

  get #following(): WorkerProcess[] {
    return [...this.#workers].filter(({ isFollowing }) => isFollowing);
  }

  get #ready(): number {
    return new Set([...this.#workers].filter((one) => one.isListening).map(({ number }) => number)).size;
  }

  /** Calls all workers. A call rejects if its worker ends, and an ended worker needs no state. */
  async #callAll<Name extends 'accepted' | 'settle'>(name: Name, body: Parameters<WorkerCalls[Name]>[0]) {
    await Promise.all(this.#following.map(({ link }) => link.ask(name, body).catch(() => undefined)));
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

  #begin(number: number, isReplacement = false): WorkerProcess {
    const { logger, keys } = this.#dependencies;
    const worker = new WorkerProcess(
      { number, config: partOf(this.#config, this.count), workers: this.count },
      { calls: this.#calls, nodeOf: this.#nodeOf, states: this.#states, keys, logger },
    );
    this.#workers.add(worker);
    if (isReplacement)
      worker.listens.catch((err: unknown) => logger.error({ err }, 'worker could not start: retrying'));
    inBackground('end of a worker', async () => {
      const { code, signal } = await worker.ended;
      this.#workers.delete(worker);
      this.#ended = awaitedLater(this.#ended.then((ended) => addEndedProcess(ended, worker.metrics)));
      // If a worker of the start or of a reload cannot start, `listens` rejects.
      if (worker.isLeaving || !(worker.isListening || isReplacement)) return;
      if (worker.isListening)
        logger.error({ pid: worker.pid, code, signal }, 'worker ended: another is started');
      if (performance.now() - worker.startedMs < LIVED_MS)
        await pause(RESTART_PAUSE_MS, undefined, { ref: false });
      // A reload may have started a worker with this number.
      if (this.#isStopping || this.#numbered(number).length > 0) return;
      this.#restarted.inc();
      this.#begin(number, true);
    });
    return worker;
  }
}

/** Returns a text that differs for different network states. Omits block hashes, which follow from the head. */
const textOf = ({ pool, ...rest }: NetworkState): string =>
  JSON.stringify({ ...rest, pool: { ...pool, heads: { ...pool.heads, hashes: [] } } });
