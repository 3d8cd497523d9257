import cluster from 'node:cluster';
import type { Logger } from 'pino';
import { ApiKeyPublisher, type KeyRecords } from '../../ethereum/gateway/index.ts';
import type { UpstreamNode } from '../../ethereum/nodes/index.ts';
import { awaitedLater, inBackground } from '../../platform/background/index.ts';
import type { MetricJson } from '../../platform/metrics/index.ts';
import type { NetworkState } from '../ethereum/ethereumNetwork.ts';
import { closeIfNotAccepted } from '../listen/unacceptedConnection.ts';
import type { Beginning, PrimaryCalls, WorkerCalls } from './calls.ts';
import { Link, type Message } from './link.ts';

/** Interval at which the first process asks each worker for a reply. */
export const PING_MS = 500;
/** A worker is killed after this number of pings without a reply, that is after 4 s. */
const MAX_LOST_PINGS = 8;
/** A worker that still loads its code is killed after this number of pings without a reply, that is after 60 s. */
const MAX_LOST_PINGS_LOADING = 120;
/** During a reload, the time for which a replaced worker keeps idle connections open for one more request. */
const GENTLE_MS = 5_000;
/** After its connections are closed, a worker has this time to close its stores. Then it is killed. */
const CLOSE_MS = 10_000;
/**
 * Free heap memory that glibc may keep in a worker. Its default is up to 64 MB (10 MB per worker when measured). A
 * value in the environment takes precedence.
 */
const TRIM_THRESHOLD_BYTES = process.env['MALLOC_TRIM_THRESHOLD_'] ?? String(128 * 1024);

/** Calls that do not depend on the worker that makes them. */
export type SharedCalls = Omit<PrimaryCalls, 'up' | 'wantChanges' | 'takeTraceSlot' | 'endTraceSlot'>;

export interface WorkerProcessDependencies {
  readonly calls: SharedCalls;
  readonly nodeOf: (network: string, node: number) => UpstreamNode;
  /** Current states of the networks. */
  readonly states: ReadonlyMap<string, { readonly state: NetworkState }>;
  /** API keys, if they are stored in a database; undefined if workers read keys in the data folder. */
  readonly keys: KeyRecords | undefined;
  readonly logger: Logger;
}

/** One worker, as the first process uses it: starts the process, exchanges messages with it, and ends it. */
export class WorkerProcess {
  readonly number: number;
  readonly link: Link<PrimaryCalls, WorkerCalls>;
  /** Resolves with the worker's address when the worker listens. Rejects if it cannot start. */
  readonly listens: Promise<{ readonly url: string }>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly startedMs = performance.now();
  /** Names of the networks whose index changes the worker needs. */
  readonly wanted = new Set<string>();
  /** The worker's metrics, as last read. */
  metrics: readonly MetricJson[] = [];
  /** True after the initial state was sent to the worker. From then on, the worker needs every change. */
  isFollowing = false;
  isListening = false;
  isLeaving = false;
  readonly #process = cluster.fork({ MALLOC_TRIM_THRESHOLD_: TRIM_THRESHOLD_BYTES });
  readonly #keys: ApiKeyPublisher | undefined;
  readonly #logger: Logger;
  /** Functions that end the use of the worker's slots for traces, by the worker's id of the slot. */
  readonly #traceSlots = new Map<string, (how: { readonly isLost: boolean }) => void>();
  #lostPings = 0;

  constructor(
    { number, ...beginning }: Beginning & { readonly number: number },
    { calls, nodeOf, states, keys, logger }: WorkerProcessDependencies,
  ) {
    this.number = number;
    this.#keys = keys && new ApiKeyPublisher(keys);
    this.#logger = logger;
    let start: (begun: Promise<{ readonly url: string }>) => void = () => undefined;
    let failed: (error: Error) => void = () => undefined;
    this.listens = awaitedLater(
      new Promise((resolve, reject) => {
        start = resolve;
        failed = reject;
      }),
    );
    this.listens.then(
      () => {
        this.isListening = !this.isLeaving;
      },
      () => this.kill(),
    );
    this.link = new Link((message) => this.#send(message), {
      ...calls,
      up: () => {
        this.isFollowing = true;
        this.#lostPings = 0;
        this.sendKeys();
        for (const [network, { state }] of states) this.link.tell('state', { network, state });
        start(this.link.ask('begin', beginning));
      },
      wantChanges: ({ network, areWanted }) => {
        if (areWanted) this.wanted.add(network);
        else this.wanted.delete(network);
      },
      takeTraceSlot: ({ network, node, client, id }) =>
        new Promise((resolve) => {
          let deadlineMs: number | undefined;
          const end = nodeOf(network, node).traceSlots.take(client, () => {
            deadlineMs = performance.now() + beginning.config.gateway.requestTimeoutMs;
            resolve();
          });
          this.#traceSlots.set(id, ({ isLost }) => {
            // A node continues the trace of a lost worker, so the slot stays in use until the call times out.
            if (isLost && deadlineMs !== undefined) setTimeout(end, deadlineMs - performance.now()).unref();
            else end();
            // If the worker no longer waits for the slot, the call ends, too.
            resolve();
          });
        }),
      endTraceSlot: (id) => {
        this.#traceSlots.get(id)?.({ isLost: false });
        this.#traceSlots.delete(id);
      },
    });
    this.#process.on('message', (message: Message) => this.link.received(message));
    closeIfNotAccepted(this.#process);
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        const error = new Error(`a worker ended (${signal ?? code}) before it could answer`);
        failed(error);
        this.link.closed(error);
        for (const end of this.#traceSlots.values()) end({ isLost: true });
        resolve({ code, signal });
      };
      this.#process.once('exit', end);
      // If the process could not be created, for example for lack of file descriptors, no `exit` event follows.
      this.#process.on('error', () => this.pid === undefined && end(null, 'not started'));
    });
  }

  get pid(): number | undefined {
    return this.#process.process.pid;
  }

  kill(): void {
    this.#process.process.kill('SIGKILL');
  }

  /** Must be called every `PING_MS`: asks the worker for a reply, and kills it after too many pings without one. */
  ping(): void {
    const maxLost = this.isFollowing ? MAX_LOST_PINGS : MAX_LOST_PINGS_LOADING;
    if (this.#lostPings === 0)
      inBackground('ping of a worker', async () => {
        await this.link.ask('ping', undefined).catch(() => undefined);
        this.#lostPings = 0;
      });
    if (this.#lostPings++ < maxLost) return;
    this.#logger.error({ pid: this.pid }, 'worker does not respond: killed');
    this.kill();
  }

  sendKeys(): void {
    if (this.isFollowing && this.#keys !== undefined) this.link.tell('keys', this.#keys.changes());
  }

  /** Ends the worker, as at the server's stop or, if `isGentle`, after the next response of each connection. */
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
    // Errors are ignored: sending fails only if the process has ended, and then its `exit` event follows.
    if (this.#process.isConnected()) this.#process.send(message as object, () => undefined);
  }
}
