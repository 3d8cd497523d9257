/** Starts a DNS thread, passes what it learns to the detector, and restarts it if it exits. */
import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import { failureReporter, inBackground } from '../../../../platform/background/index.ts';
import type { Log } from '../../../../platform/logging/index.ts';
import type { AttackDetector } from '../../../detector/index.ts';
import { PacketFaults } from '../../index.ts';
import { acquireThread } from '../threads/index.ts';
import { decodeLearnedAnswers } from './learnedAnswers.ts';
import type { FromThread, TcpTask, ThreadTask, ToThread, UdpTask } from './threadMessages.ts';

/** Delay before a thread that exited is replaced, so that repeated failures use little CPU time. */
const RESTART_MS = 250;
/** Time in which a thread must exit after a `stop` message. After that, the thread is terminated. */
const STOP_MS = 2000;

export interface ThreadDependencies {
  readonly detector: AttackDetector;
  readonly log: Log;
  readonly onFault: (fault: string) => void;
}

interface ThreadSupervisorDependencies extends ThreadDependencies {
  /** Receives all messages of the thread, for those that depend on its task. */
  readonly onMessage: (message: FromThread) => void;
  readonly onExit: () => void;
}

export class ThreadSupervisor {
  readonly #index: number;
  readonly #task: ThreadTask;
  readonly #dependencies: ThreadSupervisorDependencies;
  readonly #listens = new Map<number, ServerAddress>();
  /** Exceptions that were caught in the main thread while it handled a message from the thread. */
  readonly #faults: PacketFaults;
  #worker: Worker | undefined;
  #restart: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    { index, task }: { readonly index: number; readonly task: UdpTask | TcpTask },
    dependencies: ThreadSupervisorDependencies,
  ) {
    this.#index = index;
    // The message is copied by structured clone, so only plain fields of the addresses are passed.
    const servers = task.servers.map(({ host, port, proxyProtocol }) => ({ host, port, proxyProtocol }));
    const { key, sharedState } = dependencies.detector;
    this.#task = { ...task, servers, key, sharedState };
    this.#dependencies = dependencies;
    this.#faults = new PacketFaults(dependencies.onFault);
  }

  /** Undefined while no thread runs. */
  get worker(): Worker | undefined {
    return this.#worker;
  }

  get faults(): number {
    return this.#faults.count;
  }

  /** Starts the thread. Resolves when it listens on all current addresses. */
  async start(): Promise<void> {
    const { log } = this.#dependencies;
    const worker = acquireThread(this.#index);
    worker.postMessage(this.#task);
    this.#worker = worker;
    worker.on('message', (message: FromThread) => {
      try {
        this.#handleMessage(message);
      } catch (error) {
        this.#faults.note(error, Date.now());
      }
    });
    worker.on('error', (error) => log.warn({ error: String(error) }, 'DNS thread failed'));
    worker.once('exit', (code) => this.#exited(code));
    await waitForMessage(worker, 'ready');
    await Promise.all([...this.#listens].map(([frontend, address]) => listenIn(worker, frontend, address)));
  }

  /** Listens on an address, also after a restart. Returns the port. */
  async listen(frontend: number, { host, port }: ServerAddress): Promise<number> {
    const worker = this.#worker;
    if (worker === undefined && port === 0)
      throw new Error('the DNS thread that chooses the port does not run');
    const bound = worker === undefined ? port : await listenIn(worker, frontend, { host, port });
    this.#listens.set(frontend, { host, port: bound });
    return bound;
  }

  async unlisten(frontend: number): Promise<void> {
    this.#listens.delete(frontend);
    if (this.#worker === undefined) return;
    const left = waitForMessage(this.#worker, 'left', frontend);
    this.send({ kind: 'leave', frontend });
    // If the thread exits before it replies, it does not listen either, so the error is ignored.
    await left.catch(() => undefined);
  }

  /** Sends a message to the thread, if it runs. */
  send(message: ToThread): void {
    this.#worker?.postMessage(message);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restart);
    const worker = this.#worker;
    if (worker === undefined) return;
    const exited = once(worker, 'exit');
    this.send({ kind: 'stop' });
    const timer = setTimeout(() => this.#terminate(), STOP_MS);
    await exited;
    clearTimeout(timer);
  }

  #terminate(): void {
    inBackground('termination of a DNS thread', () => this.#worker?.terminate());
  }

  #exited(code: number): void {
    const { log, onExit } = this.#dependencies;
    this.#worker = undefined;
    onExit();
    if (this.#isClosed) return;
    log.warn({ thread: this.#index, code }, 'DNS thread exited; restarting it');
    this.#restart = setTimeout(() => {
      this.start().catch((error: unknown) => {
        log.warn({ error: String(error) }, 'cannot start a DNS thread; retrying');
        // A thread that runs but cannot listen is terminated. Its exit causes the next restart.
        this.#terminate();
      });
    }, RESTART_MS);
  }

  #handleMessage(message: FromThread): void {
    const { detector, onFault, onMessage } = this.#dependencies;
    const nowMs = Date.now();
    if (message.kind === 'alarm') detector.alarm(message.zone, nowMs);
    else if (message.kind === 'zone') detector.addZone(message.wire);
    else if (message.kind === 'fault') onFault(message.fault);
    else if (message.kind === 'failure') failureReporter(message.work)(message.error);
    else if (message.kind === 'answers') {
      // A client's address cannot be forged over TCP.
      const isProven = this.#task.kind === 'tcp';
      for (const { zone, kind, network, isAllowed, ...name } of decodeLearnedAnswers(message.batch))
        detector.learnIn(zone, name, kind, network, isAllowed, nowMs, isProven);
      this.send({ kind: 'heard' });
    } else onMessage(message);
  }
}

/** Resolves with the first message of a kind, and of a frontend. Rejects if the thread exits before. */
function waitForMessage<K extends FromThread['kind']>(
  worker: Worker,
  kind: K,
  frontend?: number,
): Promise<Extract<FromThread, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FromThread): void => {
      const isOther = 'frontend' in message && message.frontend !== frontend;
      // The cast is safe, because the kind is the wanted one.
      if (message.kind === kind && !isOther)
        settle(() => resolve(message as Extract<FromThread, { kind: K }>));
    };
    const onExit = (): void => settle(() => reject(new Error('a DNS thread exited while starting')));
    const settle = (then: () => void): void => {
      worker.off('message', onMessage).off('exit', onExit);
      then();
    };
    worker.on('message', onMessage).on('exit', onExit);
  });
}

async function listenIn(worker: Worker, frontend: number, address: ServerAddress): Promise<number> {
  const answer = waitForMessage(worker, 'listening', frontend);
  const request: ToThread = { kind: 'listen', frontend, address };
  worker.postMessage(request);
  const { port, fault } = await answer;
  if (fault !== undefined) throw Object.assign(new Error(fault.message), { code: fault.code });
  return port;
}
