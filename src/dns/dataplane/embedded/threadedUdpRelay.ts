/** Several threads that receive on the same ports, around one detector. One that dies is started again; the others go on. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { ServerAddress } from '../../../platform/addresses/index.ts';
import type { Log } from '../../../platform/logging/index.ts';
import type { AttackDetector, SampleBatch } from '../../detector/index.ts';
import { readResultNames } from '../../protocol/index.ts';
import { type DnsServer, PacketFaults } from '../index.ts';
import { learnedAnswersIn } from './learnedAnswers.ts';
import type { LimitedAnswers } from './responseRateLimit.ts';
import { Standing } from './serverHealth.ts';
import type { FromThread, ThreadCounts, ThreadTask, ToThread } from './threadMessages.ts';
import { takeThread } from './threads/index.ts';
import type { ServerState, UdpRelay } from './udpRelay.ts';

/** A thread that dies at once, again and again, costs the others little. */
const RESTART_MS = 250;
/** Longer than closing sockets takes; then a thread is ended where it stands. */
const STOP_MS = 2000;
/** Batches of samples that nobody took yet: some seconds of them. */
const MAX_BATCHES = 64;

const NOTHING: ThreadCounts = {
  packets: [],
  servers: [],
  lost: 0,
  limited: { truncated: 0, dropped: 0 },
  faults: 0,
};

interface Thread {
  readonly worker: Worker;
  counts: ThreadCounts;
}

export interface ThreadedUdpRelayOptions {
  readonly threads: number;
  readonly task: Omit<ThreadTask, 'key' | 'sharedState'>;
}

export interface ThreadedUdpRelayDependencies {
  readonly detector: AttackDetector;
  readonly log: Log;
  readonly onFault: (fault: string) => void;
}

export class ThreadedUdpRelay implements UdpRelay {
  readonly #task: ThreadedUdpRelayOptions['task'];
  readonly #dependencies: ThreadedUdpRelayDependencies;
  readonly #threads = new Map<number, Thread>();
  /** Where every thread listens. */
  readonly #listens = new Map<number, ServerAddress>();
  /** Faults of this thread, in hearing what the others tell. */
  readonly #faults: PacketFaults;
  readonly #restarts = new Set<NodeJS.Timeout>();
  /** What threads that are gone had counted. */
  readonly #past: ThreadCounts[] = [];
  #samples: SampleBatch[] = [];
  #turn = 0;
  #closed = false;

  private constructor({ task }: ThreadedUdpRelayOptions, dependencies: ThreadedUdpRelayDependencies) {
    this.#task = task;
    this.#dependencies = dependencies;
    this.#faults = new PacketFaults(dependencies.onFault);
  }

  /** Starts the threads. Rejects when one of them cannot start. */
  static async start(
    options: ThreadedUdpRelayOptions,
    dependencies: ThreadedUdpRelayDependencies,
  ): Promise<ThreadedUdpRelay> {
    const threads = new ThreadedUdpRelay(options, dependencies);
    try {
      await Promise.all(Array.from({ length: options.threads }, (_, index) => threads.#start(index)));
    } catch (error) {
      await threads.close();
      throw error;
    }
    return threads;
  }

  /** The threads that run, for whoever wants to see that they do. */
  get workers(): readonly Worker[] {
    return [...this.#threads.values()].map(({ worker }) => worker);
  }

  async listen(frontend: number, address: ServerAddress): Promise<void> {
    await Promise.all(this.workers.map((worker) => listenIn(worker, frontend, address)));
    this.#listens.set(frontend, address);
  }

  async leave(frontend: number): Promise<void> {
    this.#listens.delete(frontend);
    await Promise.all(
      this.workers.map(async (worker) => {
        const left = told(worker, (message) => message.kind === 'left' && message.frontend === frontend);
        say(worker, { kind: 'leave', frontend });
        // One that ends meanwhile listens nowhere.
        await left.catch(() => undefined);
      }),
    );
  }

  get servers(): readonly ServerState[] {
    return this.#task.servers.map((address, index) => {
      const now = this.#counts().flatMap(({ servers }) => servers[index] ?? []);
      const all = [...now, ...this.#past.flatMap(({ servers }) => servers[index] ?? [])];
      const best = Math.min(...now.map(({ standing }) => standing));
      const standing = now.find((state) => state.standing === best)?.standing ?? Standing.inUse;
      const up = standing === Standing.inUse;
      return {
        ...sumOfStates(address, all),
        up,
        standing,
        unreachable: up ? undefined : now.find(({ unreachable }) => unreachable !== undefined)?.unreachable,
        inFlight: { waiting: now.reduce((total, { inFlight }) => total + inFlight.waiting, 0) },
      };
    });
  }

  inOrder(): DnsServer[] {
    const { servers } = this;
    const first = this.#turn++ % servers.length;
    const turned = [...servers.slice(first), ...servers.slice(0, first)];
    return turned.sort((one, other) => one.standing - other.standing).map(({ address }) => address);
  }

  packets(): readonly number[] {
    const all = [...this.#counts(), ...this.#past];
    return readResultNames.map((_, result) =>
      all.reduce((total, { packets }) => total + (packets[result] ?? 0), 0),
    );
  }

  unlearned(): number {
    return [...this.#counts(), ...this.#past].reduce((total, { lost }) => total + lost, 0);
  }

  limited(): LimitedAnswers {
    return sumOf([...this.#counts(), ...this.#past]).limited;
  }

  takeSamples(): readonly SampleBatch[] {
    const taken = this.#samples;
    this.#samples = [];
    return taken;
  }

  faults(): number {
    return [...this.#counts(), ...this.#past].reduce(
      (total, { faults }) => total + faults,
      this.#faults.count,
    );
  }

  /** Each thread looks after itself. */
  tick(): void {}

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all(this.workers.map(stopThread));
  }

  #counts(): ThreadCounts[] {
    return [...this.#threads.values()].map(({ counts }) => counts);
  }

  /** Resolves when the thread receives wherever the others do. */
  async #start(index: number): Promise<void> {
    const task = this.#task;
    const { detector, log } = this.#dependencies;
    // What crosses to a thread is copied: an address that is more than an address could not be.
    const servers = task.servers.map(({ host, port, proxyProtocol }) => ({
      host,
      port,
      proxyProtocol,
    }));
    const whole: ThreadTask = { ...task, servers, key: detector.key, sharedState: detector.sharedState };
    const worker = takeThread(index);
    worker.postMessage(whole);
    const thread: Thread = { worker, counts: NOTHING };
    this.#threads.set(index, thread);
    worker.on('message', (message: FromThread) => {
      try {
        this.#hear(thread, message);
      } catch (error) {
        this.#faults.note(error, Date.now());
      }
    });
    worker.on('error', (error) => log.warn({ error: String(error) }, 'a thread of the guard failed'));
    worker.once('exit', (code) => this.#gone(index, thread, code));
    await told(worker, ({ kind }) => kind === 'ready');
    await Promise.all([...this.#listens].map(([frontend, address]) => listenIn(worker, frontend, address)));
  }

  #gone(index: number, { counts }: Thread, code: number): void {
    this.#threads.delete(index);
    this.#past.splice(0, this.#past.length, sumOf([...this.#past, counts]));
    if (this.#closed) return;
    this.#dependencies.log.warn({ thread: index, code }, 'a thread of the guard ended; it is started again');
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#start(index).catch((error: unknown) => {
        this.#dependencies.log.warn({ error: String(error) }, 'a thread of the guard could not be started');
        // It cannot listen where the others do: as good as dead, and tried again as such.
        void this.#threads.get(index)?.worker.terminate();
      });
    }, RESTART_MS);
    this.#restarts.add(timer);
  }

  #hear(thread: Thread, message: FromThread): void {
    const { detector } = this.#dependencies;
    const nowMs = Date.now();
    if (message.kind === 'alarm') detector.alarm(message.zone, nowMs);
    else if (message.kind === 'zone') detector.addZone(message.wire);
    else if (message.kind === 'counts') thread.counts = message.counts;
    else if (message.kind === 'samples') {
      if (this.#samples.length < MAX_BATCHES) this.#samples.push(message.batch);
    } else if (message.kind === 'fault') this.#dependencies.onFault(message.fault);
    else if (message.kind === 'answers') {
      for (const learned of learnedAnswersIn(message.batch))
        detector.learnIn(learned.zone, learned, learned.kind, learned.network, nowMs);
      say(thread.worker, { kind: 'heard' });
    }
  }
}

const say = (worker: Worker, message: ToThread): void => worker.postMessage(message);

/** Resolves with the first message that is what was waited for; rejects when the thread ends before. */
function told(worker: Worker, is: (message: FromThread) => boolean): Promise<FromThread> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromThread): void => {
      if (is(message)) settle(() => resolve(message));
    };
    const onExit = (): void =>
      settle(() => reject(new Error('a thread of the guard ended while it started')));
    const settle = (then: () => void): void => {
      worker.off('message', onMessage).off('exit', onExit);
      then();
    };
    worker.on('message', onMessage).on('exit', onExit);
  });
}

async function listenIn(worker: Worker, frontend: number, address: ServerAddress): Promise<void> {
  const answer = told(worker, (message) => message.kind === 'listening' && message.frontend === frontend);
  say(worker, { kind: 'listen', frontend, address });
  const message = await answer;
  if (message.kind !== 'listening' || message.fault === undefined) return;
  throw Object.assign(new Error(message.fault.message), { code: message.fault.code });
}

async function stopThread(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit');
  say(worker, { kind: 'stop' });
  const timer = setTimeout(() => void worker.terminate(), STOP_MS);
  await exited;
  clearTimeout(timer);
}

/** Counts of threads that are gone, as one; nothing waits with them any more. */
function sumOf(all: readonly ThreadCounts[]): ThreadCounts {
  const packets = readResultNames.map((_, result) =>
    all.reduce((total, counts) => total + (counts.packets[result] ?? 0), 0),
  );
  const known = all.find((counts) => counts.servers.length > 0)?.servers ?? [];
  const servers = known.map(({ address }, index) =>
    sumOfStates(
      address,
      all.flatMap((counts) => counts.servers[index] ?? []),
    ),
  );
  return {
    packets,
    servers,
    lost: all.reduce((total, { lost }) => total + lost, 0),
    limited: {
      truncated: all.reduce((total, { limited }) => total + limited.truncated, 0),
      dropped: all.reduce((total, { limited }) => total + limited.dropped, 0),
    },
    faults: all.reduce((total, { faults }) => total + faults, 0),
  };
}

/** What was counted of one server; of how it does now only the counts themselves know. */
function sumOfStates(address: DnsServer, states: readonly ServerState[]): ServerState {
  const sum = (key: 'answered' | 'timedOut' | 'mismatched' | 'retried') =>
    states.reduce((total, state) => total + state[key], 0);
  return {
    address,
    up: false,
    standing: Standing.silent,
    unreachable: undefined,
    answered: sum('answered'),
    timedOut: sum('timedOut'),
    mismatched: sum('mismatched'),
    retried: sum('retried'),
    inFlight: { waiting: 0 },
  };
}
