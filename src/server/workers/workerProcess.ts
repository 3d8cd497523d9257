import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { ApiKeyPublisher, type KeyRecords, type OwnFilterMemory } from '../../ethereum/gateway/index.ts';
import { awaitedLater } from '../../platform/background/index.ts';
import type { MetricJson } from '../../platform/metrics/index.ts';
import type { Beginning, PrimaryCalls, WorkerCalls } from './calls.ts';
import { Link, type Message } from './link.ts';
import { MemoryOfWorker } from './subscriptionMemory.ts';
import { closeIfNotAccepted } from './unacceptedConnection.ts';

/** Interval at which the first process asks each worker for a reply. */
export const PING_MS = 500;
/** Number of pings without a reply after which a worker is killed. They take 4 s. */
const MAX_LOST_PINGS = 8;
/** Number of pings without a reply after which a worker that still loads its code is killed. They take 60 s. */
const MAX_LOST_PINGS_LOADING = 120;
/** Time that a reload waits for connections without a request. */
const GENTLE_MS = 5_000;
/** Time to close the stores after the connections. */
const CLOSE_MS = 10_000;
/** Free heap that glibc keeps; default: up to 64 MB, 10 MB per worker when measured. The environment wins. */
const TRIM_THRESHOLD_BYTES = process.env['MALLOC_TRIM_THRESHOLD_'] ?? String(128 * 1024);

/** Calls of a worker that concern this worker alone. */
type OwnCalls = 'up' | 'listening' | 'failed' | 'wantChanges' | 'takeFilterBytes' | 'giveFilterBytes';
export type SharedCalls = Omit<PrimaryCalls, OwnCalls>;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface WorkerProcessOptions {
  readonly number: number;
  readonly beginning: () => Omit<Beginning, 'keys'>;
}

export interface WorkerProcessDependencies {
  readonly calls: SharedCalls;
  readonly filterMemory: OwnFilterMemory;
  readonly keys: KeyRecords | undefined;
  readonly logger: Logger;
}

/** One worker, from the first process's side. */
export class WorkerProcess {
  readonly number: number;
  readonly link: Link<PrimaryCalls, WorkerCalls>;
  /** Rejects if the worker cannot start. */
  readonly listens: Promise<{ readonly url: string }>;
  readonly ended: Promise<Ended>;
  readonly startedMs = performance.now();
  /** The networks whose index changes the worker needs. */
  readonly wanted = new Set<string>();
  /** Metrics as last read. */
  metrics: readonly MetricJson[] = [];
  /** True after the worker received the initial state; from then on it needs every change. */
  isFollowing = false;
  isListening = false;
  isLeaving = false;
  readonly #process = cluster.fork({ MALLOC_TRIM_THRESHOLD_: TRIM_THRESHOLD_BYTES });
  readonly #keys: ApiKeyPublisher | undefined;
  readonly #logger: Logger;
  #lostPings = 0;

  constructor(
    { number, beginning }: WorkerProcessOptions,
    { calls, filterMemory, keys, logger }: WorkerProcessDependencies,
  ) {
    const memory = new MemoryOfWorker(filterMemory);
    this.number = number;
    this.#keys = keys && new ApiKeyPublisher(keys);
    this.#logger = logger;
    let listening: (where: { readonly url: string }) => void = () => undefined;
    let failed: (error: Error) => void = () => undefined;
    this.listens = awaitedLater(
      new Promise((resolve, reject) => {
        listening = resolve;
        failed = reject;
      }),
    );
    this.link = new Link((message) => this.#send(message), {
      ...calls,
      takeFilterBytes: (taken) => memory.take(taken),
      giveFilterBytes: (given) => memory.give(given),
      up: () => {
        this.link.tell('begin', { ...beginning(), keys: this.#keys?.changes() });
        this.isFollowing = true;
        this.#lostPings = 0;
      },
      listening: (where) => {
        this.isListening = true;
        listening(where);
      },
      failed: ({ name, message }) => {
        failed(Object.assign(new Error(message), { name }));
        this.kill();
      },
      wantChanges: ({ network, areWanted }) => {
        if (areWanted) this.wanted.add(network);
        else this.wanted.delete(network);
      },
    });
    this.#process.on('message', (message: Message) => this.link.received(message));
    closeIfNotAccepted(this.#process);
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        this.link.closed();
        memory.giveAll();
        failed(new Error(`a worker ended (${signal ?? code}) before it could answer`));
        resolve({ code, signal });
      };
      this.#process.once('exit', end);
      // No exit follows if the process was not created, for example without free file descriptors.
      this.#process.on('error', () => this.pid === undefined && end(null, 'not started'));
    });
  }

  get pid(): number | undefined {
    return this.#process.process.pid;
  }

  kill(): void {
    this.#process.process.kill('SIGKILL');
  }

  /** Call every `PING_MS`. Kills the worker if its event loop does not run. */
  ping(): void {
    const maxLost = this.isFollowing ? MAX_LOST_PINGS : MAX_LOST_PINGS_LOADING;
    if (this.#lostPings === 0)
      this.link.ask('ping', undefined).then(
        () => {
          this.#lostPings = 0;
        },
        () => undefined,
      );
    if (this.#lostPings++ < maxLost) return;
    this.#logger.error({ pid: this.pid }, 'worker does not respond: killed');
    this.kill();
  }

  sendKeys(): void {
    if (this.isFollowing && this.#keys !== undefined) this.link.tell('keys', this.#keys.changes());
  }

  /** Ends the worker: gently, after each connection's next response, or as a server stops. */
  async leave({ isGentle, timeoutMs }: { isGentle: boolean; timeoutMs: number }): Promise<void> {
    this.isLeaving = true;
    this.isListening = false;
    if (!this.isFollowing) this.kill();
    const how = { isGentle, timeoutMs: isGentle ? Math.min(GENTLE_MS, timeoutMs) : timeoutMs };
    const late = setTimeout(() => this.kill(), timeoutMs + (isGentle ? GENTLE_MS : 0) + CLOSE_MS);
    const last = await this.link.ask('leave', how).catch(() => undefined);
    if (last !== undefined) this.metrics = last;
    if (this.#process.isConnected()) this.#process.disconnect();
    await this.ended;
    clearTimeout(late);
  }

  #send(message: Message): void {
    // Errors of this call are ignored: the process has ended, and `exit` follows.
    if (this.#process.isConnected()) this.#process.send(message as object, () => undefined);
  }
}
