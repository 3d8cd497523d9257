import cluster, { type Worker as Process } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Config } from '../../config/index.ts';
import { type KeyRecords, RateLimits, type Rates } from '../../ethereum/gateway/index.ts';
import type { ApplyWith, FollowedChange } from '../../ethereum/ingest/index.ts';
import { SerialQueue } from '../../platform/serialQueue/index.ts';
import type { TokenUses } from '../../rules/api/index.ts';
import type { Ethereum } from '../ethereum.ts';
import { sharesToShed } from './balance.ts';
import type { NetworkState, PrimaryCalls, State, WorkerCalls } from './calls.ts';
import { leaseFromNode } from './leasedNodeBudget.ts';
import { leaseFrom } from './leasedRates.ts';
import { Link } from './link.ts';
import { addedUp, keptOf, type MetricJson } from './machineMetrics.ts';
import { Restarts } from './restarts.ts';
import { KeyTeller } from './toldKeys.ts';
import { partOf } from './workerConfig.ts';

/** A worker that does not stop to answer within this time hangs: it is ended, as it might answer by what was before. */
const HOLD_TIMEOUT_MS = 10_000;
/** A worker that does not tell what it has counted within this time is counted as it was the last time. */
const TELL_TIMEOUT_MS = 2_000;
/** How often is looked whether some workers have more to do than others. */
const BALANCE_MS = 500;
/** What others change of API keys counts here within two seconds, one of which passes until it is known. */
const TELL_KEYS_MS = 500;
/** A reload waits so long for connections on which nothing is asked. */
const GENTLE_MS = 5_000;
/**
 * Free memory at the end of its heap that glibc's allocator does not give back. Left alone it keeps more from time to time, up to 64 MB: 10 MB
 * of each worker, measured. What the environment says counts (mallopt(3)).
 */
const TRIM_THRESHOLD_BYTES = process.env['MALLOC_TRIM_THRESHOLD_'] ?? String(128 * 1024);

export interface WorkersOptions {
  readonly count: number;
  readonly config: Config;
}

export interface WorkersDependencies {
  readonly logger: Logger;
  readonly registry: Registry;
  /** Asked once workers are started. */
  readonly ethereum: () => Ethereum;
  /** None where rules are not served. */
  readonly tokenUses: Pick<TokenUses, 'add'> | undefined;
  /** API keys of the database; none where workers read those of the data folder. */
  readonly keys: KeyRecords | undefined;
}

interface Member {
  /** Its place among the workers. */
  readonly place: number;
  readonly process: Process;
  readonly link: Link<PrimaryCalls, WorkerCalls>;
  readonly keys: KeyTeller | undefined;
  readonly startedMs: number;
  /** It hears of each change of state from here on. */
  isFollowing: boolean;
  isListening: boolean;
  isLeaving: boolean;
  /** It lets go of some of its clients. */
  isShedding: boolean;
  /** The networks of whose changes it is told. */
  readonly wanted: Set<string>;
  metrics: readonly MetricJson[];
  readonly listens: Promise<{ readonly url: string }>;
  readonly ended: Promise<void>;
}

/**
 * The processes that answer the gateway. All of them answer by the same state of the chain: where that changes, first each stops to
 * answer, then all are told the new one; so whoever was answered by it, whichever worker asks next, is not answered by the one before.
 */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #dependencies: WorkersDependencies;
  readonly #members = new Set<Member>();
  readonly #changes = new SerialQueue();
  readonly #rates: Rates = new RateLimits();
  readonly #restarts = new Restarts();
  readonly #restarted: Counter;
  #config: Config;
  #isStarted = false;
  /** As it was told last, and as text. */
  #told: State = new Map();
  #toldText = '';
  #publishing: Promise<void> | undefined;
  /** What processes had counted that are gone. */
  #kept: Promise<readonly MetricJson[]> = Promise.resolve([]);
  #isStopping = false;
  readonly #stop = new AbortController();
  #tellingKeys: NodeJS.Timeout | undefined;
  #reloading: Promise<void> = Promise.resolve();

  constructor(options: WorkersOptions, dependencies: WorkersDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#config = options.config;
    const members = this.#members;
    const registers = [dependencies.registry];
    const { count } = options;
    new Gauge({
      name: 'floodgate_workers',
      help: 'Processes that are to answer the gateway.',
      registers,
      collect() {
        this.set(count);
      },
    });
    new Gauge({
      name: 'floodgate_workers_ready',
      help: 'Those of them that do.',
      registers,
      collect() {
        this.set([...members].filter(({ isListening }) => isListening).length);
      },
    });
    this.#restarted = new Counter({
      name: 'floodgate_worker_restarts_total',
      help: 'Times that a worker ended by itself, or was killed, and another was started in its place.',
      registers,
    });
  }

  get count(): number {
    return this.#options.count;
  }

  /** Starts them. Resolves, with where they listen, when all do. Rejects with the first failure, with none left. */
  async start(): Promise<{ readonly url: string }> {
    // Each accepts its own connections: one that is handed to a worker which dies just then would hang.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ serialization: 'advanced' });
    const { pools } = this.#dependencies.ethereum();
    this.#isStarted = true;
    await this.#publish();
    for (const pool of pools.values())
      pool.onState(() => {
        this.#publishChanged().catch((error: unknown) =>
          this.#dependencies.logger.error({ err: error }, 'workers could not be told of the nodes'),
        );
      });
    this.#tellingKeys = setInterval(() => this.#tellKeys(), TELL_KEYS_MS).unref();
    const places = Array.from({ length: this.#options.count }, (_, place) => place);
    try {
      const [first, ...others] = places;
      // The first one's failure is that of all: a port that is taken, a file that cannot be read.
      const where = await this.#begin(first ?? 0).listens;
      await Promise.all(others.map((place) => this.#begin(place).listens));
      void this.#balance();
      return where;
    } catch (error) {
      await this.stop(performance.now());
      throw error;
    }
  }

  /** What is missing; undefined where all answer. */
  missing(): string | undefined {
    const ready = new Set([...this.#members].filter((one) => one.isListening).map(({ place }) => place)).size;
    const { count } = this.#options;
    return ready >= count ? undefined : `${ready} of ${count} workers answer`;
  }

  /** Applies a change of an index: one that takes blocks away while nobody answers, any other before it is shown. */
  readonly applyWith: ApplyWith = async (change, apply) => {
    if (!this.#isStarted) return apply();
    if (change.undoFrom !== undefined) return this.#change(apply);
    await apply();
    await this.#publishChanged();
  };

  /** An index was changed at its head. */
  followed(network: string, change: FollowedChange): void {
    for (const { link, wanted } of this.#members)
      if (wanted.has(network)) link.tell('followed', { network, change });
  }

  /** What all workers read from now on is what is written by now. */
  async settled(): Promise<void> {
    if (!this.#isStarted) return;
    // They have heard of it when they say that they hold their calls.
    this.#tellKeys();
    await this.#publish();
  }

  /** The metrics of all processes. */
  async metrics(): Promise<Registry> {
    await Promise.all(
      [...this.#members].map(async (member) => {
        const told = await inTime(member.link.ask('metrics', undefined));
        if (told !== undefined && !member.isLeaving) member.metrics = told;
      }),
    );
    const kept = await this.#kept;
    return addedUp(this.#dependencies.registry, [kept, ...[...this.#members].map(({ metrics }) => metrics)]);
  }

  /** Counts what their clients have used tokens for until now. */
  async countUses(): Promise<void> {
    await Promise.all(
      [...this.#members].map(async ({ link }) => {
        const taken = await inTime(link.ask('takeUses', undefined));
        if (taken !== undefined) this.#dependencies.tokenUses?.add(taken);
      }),
    );
  }

  /** Puts workers with another configuration in place of those that there are, one after the other. Rejects where one cannot start. */
  reload(config: Config): Promise<void> {
    const reloaded = this.#reloading.catch(() => undefined).then(() => this.#replaceAll(config));
    this.#reloading = reloaded;
    return reloaded;
  }

  /** Ends all, one after the other. */
  async stop(deadlineMs: number): Promise<void> {
    this.#isStopping = true;
    this.#stop.abort();
    clearInterval(this.#tellingKeys);
    for (const member of [...this.#members])
      await this.#leave(member, { isGentle: false, timeoutMs: Math.max(0, deadlineMs - performance.now()) });
  }

  async #replaceAll(config: Config): Promise<void> {
    const before = this.#config;
    for (let place = 0; place < this.#options.count && !this.#isStopping; place++) {
      const old = [...this.#members].filter((member) => member.place === place);
      this.#config = config;
      try {
        await this.#begin(place).listens;
      } catch (error) {
        this.#config = before;
        throw error;
      }
      for (const member of old)
        await this.#leave(member, { isGentle: true, timeoutMs: config.stopTimeoutMs });
    }
  }

  /** Has those that have more to do than others let go of some clients, which then come to one that waits, until all are stopped. */
  async #balance(): Promise<void> {
    while (!this.#isStopping) {
      await pause(BALANCE_MS, undefined, { ref: false, signal: this.#stop.signal }).catch(() => undefined);
      const members = [...this.#members].filter(({ isListening }) => isListening);
      const busy = await Promise.all(members.map(({ link }) => inTime(link.ask('busy', undefined))));
      // One that does not answer is about to be ended.
      const told = members.filter((_, i) => busy[i] !== undefined);
      const shares = sharesToShed(busy.filter((one) => one !== undefined));
      for (const [i, member] of told.entries()) {
        const share = shares[i] ?? 0;
        if (share > 0 || member.isShedding) member.link.tell('shed', share);
        member.isShedding = share > 0;
      }
    }
  }

  #tellKeys(): void {
    for (const { link, keys } of this.#following) if (keys !== undefined) link.tell('keys', keys.changes());
  }

  get #following(): Member[] {
    return [...this.#members].filter(({ isFollowing }) => isFollowing);
  }

  /** Tells the state where it is another than was told. */
  async #publishChanged(): Promise<void> {
    if (!this.#isStopping && textOf(this.#state()) !== this.#toldText) await this.#publish();
  }

  /** Tells the state. Those that ask while a change waits for its turn share it. */
  #publish(): Promise<void> {
    this.#publishing ??= this.#change(
      async () => undefined,
      () => {
        this.#publishing = undefined;
      },
    );
    return this.#publishing;
  }

  /** Does something while no worker answers, then has all answer by the state that there is then. */
  #change(work: () => Promise<void>, begun: () => void = () => undefined): Promise<void> {
    return this.#changes.run(async () => {
      begun();
      const held = this.#following;
      await Promise.all(held.map((member) => this.#hold(member)));
      try {
        await work();
      } finally {
        this.#told = this.#state();
        this.#toldText = textOf(this.#told);
        for (const { link } of held) link.tell('resume', this.#told);
      }
    });
  }

  /** Resolves once it answers nobody any more, which it does not either when it has ended. */
  async #hold({ link, process, ended }: Member): Promise<void> {
    const hung = setTimeout(() => {
      this.#dependencies.logger.error({ pid: process.process.pid }, 'a worker hangs: it is ended');
      process.process.kill('SIGKILL');
    }, HOLD_TIMEOUT_MS);
    await Promise.race([link.ask('hold', undefined).catch(() => undefined), ended]);
    clearTimeout(hung);
  }

  #state(): State {
    const { networks } = this.#dependencies.ethereum();
    return new Map([...networks].map(([name, { state }]): [string, NetworkState] => [name, state()]));
  }

  #begin(place: number): Member {
    const { logger, keys } = this.#dependencies;
    const config = this.#config;
    const process = cluster.fork({ MALLOC_TRIM_THRESHOLD_: TRIM_THRESHOLD_BYTES });
    let listening: (where: { url: string }) => void = () => undefined;
    let failed: (error: Error) => void = () => undefined;
    let over: () => void = () => undefined;
    const member: Member = {
      ...{ place, process, startedMs: performance.now(), metrics: [], wanted: new Set() },
      keys: keys && new KeyTeller(keys),
      ...{ isFollowing: false, isListening: false, isLeaving: false, isShedding: false },
      listens: new Promise((resolve, reject) => {
        listening = resolve;
        failed = reject;
      }),
      ended: new Promise((resolve) => {
        over = resolve;
      }),
      link: new Link<PrimaryCalls, WorkerCalls>(
        (message) => {
          if (process.isConnected()) process.send(message as object, () => undefined);
        },
        {
          ...this.#calls(),
          up: () =>
            void this.#changes.run(() => {
              member.link.tell('begin', {
                config: partOf(config, this.#options.count),
                state: this.#told,
                keys: member.keys?.changes(),
              });
              member.isFollowing = true;
            }),
          listening: (where) => {
            member.isListening = true;
            listening(where);
          },
          wantChanges({ network, areWanted }) {
            if (areWanted) member.wanted.add(network);
            else member.wanted.delete(network);
          },
          failed({ name, message }) {
            failed(Object.assign(new Error(message), { name }));
            // It has nothing to answer with.
            process.process.kill('SIGKILL');
          },
        },
      ),
    };
    member.listens.catch(() => undefined); // whoever waits for it hears of it
    this.#members.add(member);
    process.on('message', (message) => member.link.received(message));
    process.on('error', () => undefined); // it ends then
    process.on('exit', (code, signal) => {
      this.#members.delete(member);
      member.link.closed();
      failed(new Error(`a worker ended (${signal ?? code}) before it could answer`));
      over();
      this.#kept = this.#kept.then((kept) => keptOf(kept, member.metrics));
      if (member.isLeaving || this.#isStopping || !member.isListening) return;
      logger.error({ pid: process.process.pid, code, signal }, 'a worker ended: another is started');
      void this.#startAgain(place, performance.now() - member.startedMs);
    });
    return member;
  }

  async #startAgain(place: number, livedMs: number): Promise<void> {
    for (let pauseMs = this.#restarts.pauseMs(place, livedMs); !this.#isStopping; ) {
      await pause(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      // A reload has put one there meanwhile.
      if (this.#isStopping || [...this.#members].some((member) => member.place === place)) return;
      this.#restarted.inc();
      const member = this.#begin(place);
      try {
        await member.listens;
        return;
      } catch (error) {
        this.#dependencies.logger.error({ err: error }, 'a worker could not start: it is tried again');
        pauseMs = this.#restarts.pauseMs(place, 0);
        await member.ended;
      }
    }
  }

  async #leave(
    member: Member,
    { isGentle, timeoutMs }: { isGentle: boolean; timeoutMs: number },
  ): Promise<void> {
    if (!this.#members.has(member)) return;
    member.isLeaving = true;
    member.isListening = false;
    const ms = isGentle ? timeoutMs + GENTLE_MS : timeoutMs;
    const hung = setTimeout(() => member.process.process.kill('SIGKILL'), ms + HOLD_TIMEOUT_MS);
    const how = { isGentle, timeoutMs: isGentle ? Math.min(GENTLE_MS, timeoutMs) : timeoutMs };
    // Before it has begun there is nothing to leave.
    if (!member.isFollowing) member.process.process.kill('SIGKILL');
    const last = await member.link.ask('leave', how).catch(() => undefined);
    if (last !== undefined) member.metrics = last;
    if (member.process.isConnected()) member.process.disconnect();
    await member.ended;
    clearTimeout(hung);
  }

  #calls(): Omit<PrimaryCalls, 'up' | 'listening' | 'failed' | 'wantChanges'> {
    const networkOf = (name: string) => {
      const network = this.#dependencies.ethereum().networks.get(name);
      if (network === undefined) throw new Error(`there is no network ${name}`);
      return network;
    };
    const filtersOf = (network: string) => networkOf(network).filters;
    const contextOf = (client: string) => ({ mayStream: false, client: () => client, room: ROOM });
    return {
      poll: async ({ network, node }) => {
        const { pool } = networkOf(network);
        const polled = pool.nodes[node];
        if (polled !== undefined) await pool.refresh(polled);
        await this.#publishChanged();
        await this.#publishing;
      },
      found: ({ network, node, why }) => networkOf(network).found(node, why),
      ensure: ({ network, fromBlock, toBlock }) => networkOf(network).ensure(fromBlock, toBlock),
      usedTokens: (taken) => this.#dependencies.tokenUses?.add(taken),
      take: (wanted) => leaseFrom(this.#rates, wanted),
      takeOfNode({ network, node, ...wanted }) {
        const budget = networkOf(network).pool.nodes[node]?.client.budget;
        if (budget === undefined) throw new Error(`node ${node} of ${network} has no budget`);
        return leaseFromNode(budget, wanted);
      },
      makeFilter: ({ network, client, logs }) => filtersOf(network).make(logs as never, contextOf(client)), // as its worker has read it
      filterChanges: ({ network, client, id }) => filtersOf(network).changes(id, contextOf(client)),
      filterLogs: async ({ network, client, id }) =>
        (await filtersOf(network).logs(id, contextOf(client))) as Uint8Array, // no stream was asked for
      uninstallFilter: async ({ network, id }) => filtersOf(network).uninstall(id),
    };
  }
}

/** Undefined where it takes too long, or its worker is gone. */
const inTime = <T>(asked: Promise<T>): Promise<T | undefined> =>
  Promise.race([asked.catch(() => undefined), pause(TELL_TIMEOUT_MS, undefined, { ref: false })]);

/** What answers to workers take of memory is counted where they are sent. */
const ROOM = { charge: () => true, credit: () => undefined, givePlace: () => undefined };

/** What tells two states apart. Of hashes that are remembered all follow from the head. */
const textOf = (state: State): string =>
  JSON.stringify(
    [...state].map(([name, { pool, ...rest }]) => [
      name,
      rest,
      { ...pool, heads: { ...pool.heads, hashes: [] } },
    ]),
  );
