/**
 * Relays DNS over TCP in a thread of its own. Neither HTTP requests nor a flood over UDP delay it. Clients whose queries
 * over UDP are answered with TC=1 depend on that.
 */
import type { Worker } from 'node:worker_threads';
import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import type { TcpTask } from '../dnsThread/threadMessages.ts';
import { type ThreadDependencies, ThreadSupervisor } from '../dnsThread/threadSupervisor.ts';
import type { HealthStatus } from '../servers/serverHealth.ts';
import { closeReasons, TcpCounts } from './tcpCounts.ts';
import { noTcpFigures, type TcpFigures, type TcpRelay } from './tcpRelay.ts';

export interface ThreadedTcpRelayOptions {
  readonly index: number;
  readonly task: Omit<TcpTask, 'kind'>;
  /** Returns the health of the DNS servers over UDP. */
  readonly udpHealth: () => readonly HealthStatus[];
}

export interface ThreadedTcpRelayDependencies extends ThreadDependencies {
  /** Receives the reason why a connection was not accepted, e.g. for lack of file descriptors. */
  readonly onNotAccepted: (reason: string) => void;
}

export class ThreadedTcpRelay implements TcpRelay {
  readonly #thread: ThreadSupervisor;
  readonly #udpHealth: () => readonly HealthStatus[];
  #present = noTcpFigures();
  /** Figures of threads that exited. */
  #past = noTcpFigures();

  private constructor(
    { index, task, udpHealth }: ThreadedTcpRelayOptions,
    dependencies: ThreadedTcpRelayDependencies,
  ) {
    this.#udpHealth = udpHealth;
    this.#thread = new ThreadSupervisor(
      { index, task: { kind: 'tcp', ...task } },
      {
        ...dependencies,
        onMessage: (message) => {
          if (message.kind === 'tcpFigures') this.#present = message.figures;
          else if (message.kind === 'notAccepted') dependencies.onNotAccepted(message.reason);
        },
        onExit: () => {
          const { counts, servfails, unlearned, faults } = this.figures;
          this.#past = { ...noTcpFigures(), counts, servfails, unlearned, faults };
          this.#present = noTcpFigures();
        },
      },
    );
  }

  static async start(
    options: ThreadedTcpRelayOptions,
    dependencies: ThreadedTcpRelayDependencies,
  ): Promise<ThreadedTcpRelay> {
    const relay = new ThreadedTcpRelay(options, dependencies);
    try {
      await relay.#thread.start();
      return relay;
    } catch (error) {
      await relay.close();
      throw error;
    }
  }

  get worker(): Worker | undefined {
    return this.#thread.worker;
  }

  get figures(): TcpFigures {
    const { connections, serverConnections, serversUp, ...present } = this.#present;
    const past = this.#past;
    return {
      connections,
      serverConnections,
      serversUp,
      counts: sumOf(present.counts, past.counts),
      servfails: present.servfails + past.servfails,
      unlearned: present.unlearned + past.unlearned,
      faults: present.faults + past.faults + this.#thread.faults,
    };
  }

  listen(frontend: number, address: ServerAddress): Promise<number> {
    return this.#thread.listen(frontend, address);
  }

  unlisten(frontend: number): Promise<void> {
    return this.#thread.unlisten(frontend);
  }

  tick(): void {
    this.#thread.send({ kind: 'udpHealth', statuses: this.#udpHealth() });
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

function sumOf(one: TcpCounts, other: TcpCounts): TcpCounts {
  const sum = new TcpCounts();
  sum.accepted = one.accepted + other.accepted;
  for (const reason of closeReasons) sum.closed[reason] = one.closed[reason] + other.closed[reason];
  for (const outcome of ['allowed', 'refused'] as const)
    sum.transfers[outcome] = one.transfers[outcome] + other.transfers[outcome];
  for (const list of ['messages', 'queries'] as const)
    for (const [i] of sum[list].entries()) sum[list][i] = (one[list][i] ?? 0) + (other[list][i] ?? 0);
  return sum;
}
