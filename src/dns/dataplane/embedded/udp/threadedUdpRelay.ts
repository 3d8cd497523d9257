/** Relays DNS over UDP in several threads, which share the ports and one detector. Restarts threads that exit. */

import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import { failureReporter, inBackground } from '../../../../platform/background/index.ts';
import type { Log } from '../../../../platform/logging/index.ts';
import type { AttackDetector, SampleBatch } from '../../../detector/index.ts';
import { readResultNames } from '../../../protocol/index.ts';
import { type DnsServer, PacketFaults } from '../../index.ts';
import { HealthStatus } from '../servers/serverHealth.ts';
import { acquireThread } from '../threads/index.ts';
import { decodeLearnedAnswers } from './learnedAnswers.ts';
import type { FromThread, ThreadCounts, ThreadTask, ToThread } from './threadMessages.ts';
import type { ServerState, UdpRelay } from './udpRelay.ts';

/** Delay before a thread that exited is replaced, so that repeated failures use little CPU time. */
const RESTART_MS = 250;
/** Time in which a thread must exit after a `stop` message. After that, the thread is terminated. */
const STOP_MS = 2000;
/** Maximum number of queued batches of sampled queries. Each thread sends one per second. */
const MAX_BATCHES = 64;

const NO_COUNTS: ThreadCounts = {
  packets: [],
  servers: [],
  lost: 0,
  limited: 0,
  servfails: 0,
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
  readonly #listens = new Map<number, ServerAddress>();
  /** Exceptions that were caught in the main thread while it handled a message from a receiver thread. */
  readonly #faults: PacketFaults;
  readonly #restarts = new Set<NodeJS.Timeout>();
  readonly #past: ThreadCounts[] = [];
  #samples: SampleBatch[] = [];
  #turn = 0;
  #closed = false;

  private constructor({ task }: ThreadedUdpRelayOptions, dependencies: ThreadedUdpRelayDependencies) {
    this.#task = task;
    this.#dependencies = dependencies;
    this.#faults = new PacketFaults(dependencies.onFault);
  }

  /** Starts the threads. If a thread fails to start, stops the others and rejects. */
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

  get workers(): readonly Worker[] {
    return [...this.#threads.values()].map(({ worker }) => worker);
  }

  async listen(frontend: number, address: ServerAddress): Promise<void> {
    await Promise.all(this.workers.map((worker) => listenIn(worker, frontend, address)));
    this.#listens.set(frontend, address);
  }

  async unlisten(frontend: number): Promise<void> {
    this.#listens.delete(frontend);
    await Promise.all(
      this.workers.map(async (worker) => {
        const left = waitForMessage(
          worker,
          (message) => message.kind === 'left' && message.frontend === frontend,
        );
        send(worker, { kind: 'leave', frontend });
        // If the thread exits before it replies, it does not listen either, so the error is ignored.
        await left.catch(() => undefined);
      }),
    );
  }

  get servers(): readonly ServerState[] {
    return this.#task.servers.map((address, index) => {
      const now = this.#counts().flatMap(({ servers }) => servers[index] ?? []);
      const all = [...now, ...this.#past.flatMap(({ servers }) => servers[index] ?? [])];
      const best = Math.min(...now.map(({ status }) => status));
      const status = now.find((state) => state.status === best)?.status ?? HealthStatus.inUse;
      const up = status === HealthStatus.inUse;
      return {
        ...sumOfStates(address, all),
        up,
        status,
        unreachable: up ? undefined : now.find(({ unreachable }) => unreachable !== undefined)?.unreachable,
        inFlight: { waiting: now.reduce((total, { inFlight }) => total + inFlight.waiting, 0) },
      };
    });
  }

  inOrder(): DnsServer[] {
    const { servers } = this;
    const first = this.#turn++ % servers.length;
    const turned = [...servers.slice(first), ...servers.slice(0, first)];
    return turned.sort((one, other) => one.status - other.status).map(({ address }) => address);
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

  limited(): number {
    return sumOf([...this.#counts(), ...this.#past]).limited;
  }

  servfails(): number {
    return sumOf([...this.#counts(), ...this.#past]).servfails;
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

  /** Does nothing, because each thread has its own timer. */
  tick(): void {}

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    await Promise.all(this.workers.map(stopThread));
  }

  #counts(): ThreadCounts[] {
    return [...this.#threads.values()].map(({ counts }) => counts);
  }

  /** Starts a thread. Resolves when the thread listens on all current addresses. */
  async #start(index: number): Promise<void> {
    const task = this.#task;
    const { detector, log } = this.#dependencies;
    // The message is copied by structured clone, so only plain fields of the addresses are passed.
    const servers = task.servers.map(({ host, port, proxyProtocol }) => ({
      host,
      port,
      proxyProtocol,
    }));
    const whole: ThreadTask = { ...task, servers, key: detector.key, sharedState: detector.sharedState };
    const worker = acquireThread(index);
    worker.postMessage(whole);
    const thread: Thread = { worker, counts: NO_COUNTS };
    this.#threads.set(index, thread);
    worker.on('message', (message: FromThread) => {
      try {
        this.#handleMessage(thread, message);
      } catch (error) {
        this.#faults.note(error, Date.now());
      }
    });
    worker.on('error', (error) => log.warn({ error: String(error) }, 'DNS thread failed'));
    worker.once('exit', (code) => this.#gone(index, thread, code));
    await waitForMessage(worker, ({ kind }) => kind === 'ready');
    await Promise.all([...this.#listens].map(([frontend, address]) => listenIn(worker, frontend, address)));
  }

  #gone(index: number, { counts }: Thread, code: number): void {
    this.#threads.delete(index);
    this.#past.splice(0, this.#past.length, sumOf([...this.#past, counts]));
    if (this.#closed) return;
    this.#dependencies.log.warn({ thread: index, code }, 'DNS thread exited; restarting it');
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#start(index).catch((error: unknown) => {
        this.#dependencies.log.warn({ error: String(error) }, 'cannot start a DNS thread; retrying');
        // A thread that runs but cannot listen is terminated. Its exit causes the next restart.
        inBackground('termination of a DNS thread', () => this.#threads.get(index)?.worker.terminate());
      });
    }, RESTART_MS);
    this.#restarts.add(timer);
  }

  #handleMessage(thread: Thread, message: FromThread): void {
    const { detector } = this.#dependencies;
    const nowMs = Date.now();
    if (message.kind === 'alarm') detector.alarm(message.zone, nowMs);
    else if (message.kind === 'zone') detector.addZone(message.wire);
    else if (message.kind === 'counts') thread.counts = message.counts;
    else if (message.kind === 'samples') {
      if (this.#samples.length < MAX_BATCHES) this.#samples.push(message.batch);
    } else if (message.kind === 'fault') this.#dependencies.onFault(message.fault);
    else if (message.kind === 'failure') failureReporter(message.work)(message.error);
    else if (message.kind === 'answers') {
      for (const learned of decodeLearnedAnswers(message.batch))
        detector.learnIn(learned.zone, learned, learned.kind, learned.network, learned.isAllowed, nowMs);
      send(thread.worker, { kind: 'heard' });
    }
  }
}

const send = (worker: Worker, message: ToThread): void => worker.postMessage(message);

/** Resolves with the first message of the thread for which `is` returns true. Rejects if the thread exits before. */
function waitForMessage(worker: Worker, is: (message: FromThread) => boolean): Promise<FromThread> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromThread): void => {
      if (is(message)) settle(() => resolve(message));
    };
    const onExit = (): void => settle(() => reject(new Error('a DNS thread exited while starting')));
    const settle = (then: () => void): void => {
      worker.off('message', onMessage).off('exit', onExit);
      then();
    };
    worker.on('message', onMessage).on('exit', onExit);
  });
}

async function listenIn(worker: Worker, frontend: number, address: ServerAddress): Promise<void> {
  const answer = waitForMessage(
    worker,
    (message) => message.kind === 'listening' && message.frontend === frontend,
  );
  send(worker, { kind: 'listen', frontend, address });
  const message = await answer;
  if (message.kind !== 'listening' || message.fault === undefined) return;
  throw Object.assign(new Error(message.fault.message), { code: message.fault.code });
}

async function stopThread(worker: Worker): Promise<void> {
  const exited = once(worker, 'exit');
  send(worker, { kind: 'stop' });
  const timer = setTimeout(
    () => inBackground('termination of a DNS thread', () => worker.terminate()),
    STOP_MS,
  );
  await exited;
  clearTimeout(timer);
}

/** Adds up the counters of several threads. The status of the servers in the result is a placeholder. */
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
    limited: all.reduce((total, { limited }) => total + limited, 0),
    servfails: all.reduce((total, { servfails }) => total + servfails, 0),
    faults: all.reduce((total, { faults }) => total + faults, 0),
  };
}

/** Adds up the counters of one DNS server. `inFlight` and the status fields of the result are placeholders. */
function sumOfStates(address: DnsServer, states: readonly ServerState[]): ServerState {
  const sum = (key: 'answered' | 'timedOut' | 'mismatched' | 'retried') =>
    states.reduce((total, state) => total + state[key], 0);
  return {
    address,
    up: false,
    status: HealthStatus.silent,
    unreachable: undefined,
    answered: sum('answered'),
    timedOut: sum('timedOut'),
    mismatched: sum('mismatched'),
    retried: sum('retried'),
    inFlight: { waiting: 0 },
  };
}
