/** Relays DNS over UDP in several threads, which share the ports and one detector. */

import type { Worker } from 'node:worker_threads';
import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import type { SampleBatch } from '../../../detector/index.ts';
import { readResultNames } from '../../../protocol/index.ts';
import type { DnsServer } from '../../index.ts';
import type { FromThread, ThreadCounts, UdpTask } from '../dnsThread/threadMessages.ts';
import { type ThreadDependencies, ThreadSupervisor } from '../dnsThread/threadSupervisor.ts';
import { HealthStatus } from '../servers/serverHealth.ts';
import type { ServerState, UdpRelay } from './udpRelay.ts';

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

export interface ThreadedUdpRelayOptions {
  readonly threads: number;
  readonly task: Omit<UdpTask, 'kind'>;
}

export class ThreadedUdpRelay implements UdpRelay {
  readonly #task: UdpTask;
  readonly #threads: readonly ThreadSupervisor[];
  /** Counters of the threads that run, by index of the thread. */
  readonly #present = new Map<number, ThreadCounts>();
  /** Counters of threads that exited. */
  #past = NO_COUNTS;
  #samples: SampleBatch[] = [];

  private constructor({ threads, task }: ThreadedUdpRelayOptions, dependencies: ThreadDependencies) {
    this.#task = { kind: 'udp', ...task };
    this.#threads = Array.from(
      { length: threads },
      (_, index) =>
        new ThreadSupervisor(
          { index, task: this.#task },
          {
            ...dependencies,
            onMessage: (message) => this.#handleMessage(index, message),
            onExit: () => this.#exited(index),
          },
        ),
    );
  }

  /** Starts the threads. If a thread fails to start, stops the others and rejects. */
  static async start(
    options: ThreadedUdpRelayOptions,
    dependencies: ThreadDependencies,
  ): Promise<ThreadedUdpRelay> {
    const relay = new ThreadedUdpRelay(options, dependencies);
    try {
      await Promise.all(relay.#threads.map((thread) => thread.start()));
    } catch (error) {
      await relay.close();
      throw error;
    }
    return relay;
  }

  get workers(): readonly Worker[] {
    return this.#threads.flatMap(({ worker }) => worker ?? []);
  }

  async listen(frontend: number, address: ServerAddress): Promise<void> {
    try {
      await Promise.all(this.#threads.map((thread) => thread.listen(frontend, address)));
    } catch (error) {
      await this.unlisten(frontend);
      throw error;
    }
  }

  async unlisten(frontend: number): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.unlisten(frontend)));
  }

  get servers(): readonly ServerState[] {
    const threads = [...this.#present.values()];
    return this.#task.servers.map((address, index) => {
      const now = threads.flatMap(({ servers }) => servers[index] ?? []);
      const past = this.#past.servers[index];
      const best = Math.min(...now.map(({ status }) => status));
      const status = now.find((state) => state.status === best)?.status ?? HealthStatus.inUse;
      const up = status === HealthStatus.inUse;
      return {
        ...sumOfStates(address, [...now, ...(past === undefined ? [] : [past])]),
        up,
        status,
        unreachable: up ? undefined : now.find(({ unreachable }) => unreachable !== undefined)?.unreachable,
        inFlight: { waiting: now.reduce((total, { inFlight }) => total + inFlight.waiting, 0) },
      };
    });
  }

  packets(): readonly number[] {
    return this.#total.packets;
  }

  unlearned(): number {
    return this.#total.lost;
  }

  limited(): number {
    return this.#total.limited;
  }

  servfails(): number {
    return this.#total.servfails;
  }

  takeSamples(): readonly SampleBatch[] {
    const taken = this.#samples;
    this.#samples = [];
    return taken;
  }

  faults(): number {
    return this.#threads.reduce((total, { faults }) => total + faults, this.#total.faults);
  }

  /** Does nothing, because each thread has its own timer. */
  tick(): void {}

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #handleMessage(index: number, message: FromThread): void {
    if (message.kind === 'counts') this.#present.set(index, message.counts);
    else if (message.kind === 'samples' && this.#samples.length < MAX_BATCHES)
      this.#samples.push(message.batch);
  }

  #exited(index: number): void {
    this.#past = sumOf([this.#past, this.#present.get(index) ?? NO_COUNTS]);
    this.#present.delete(index);
  }

  get #total(): ThreadCounts {
    return sumOf([...this.#present.values(), this.#past]);
  }
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
