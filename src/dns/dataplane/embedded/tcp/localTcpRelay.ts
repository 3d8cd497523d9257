/** Relays DNS over TCP in one thread. */
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { type Network, networkMatcher, type ServerAddress } from '../../../../platform/addresses/index.ts';
import type { Scheduler } from '../../../../platform/scheduler/index.ts';
import { type TcpClient, type TcpPolicy, verdictOf } from '../../../detector/index.ts';
import { type HashKey, isCookie, type Question } from '../../../protocol/index.ts';
import { type DnsServer, PacketFaults } from '../../index.ts';
import { probeOf } from '../servers/probe.ts';
import { type OnTcpAnswer, TcpConnections, type TcpDecision } from './tcpConnections.ts';
import { TcpHealth } from './tcpHealth.ts';
import type { TcpFigures, TcpRelay } from './tcpRelay.ts';

/** Size of the accept queue: at least the maximum number of TCP connections, so that a burst fits. */
const BACKLOG = 1024;

export interface LocalTcpRelayOptions {
  readonly servers: readonly DnsServer[];
  /** Name in the SOA query that probes the health of a DNS server. Default: the root. */
  readonly probeName?: string | undefined;
  /** If false, all valid queries are forwarded without a decision. */
  readonly guarded: boolean;
  /** Number of queries after which a client's connection is closed. */
  readonly maxQueries: number;
  /** Networks whose clients may transfer zones (AXFR, IXFR). */
  readonly transfersAllow: readonly Network[];
}

export interface LocalTcpRelayDependencies {
  readonly key: HashKey;
  readonly policy: TcpPolicy;
  /** Returns the DNS servers, those with the best health over UDP first. */
  readonly serversInOrder: () => readonly DnsServer[];
  /** Whether any DNS server answers over UDP. */
  readonly isAnyUp: () => boolean;
  readonly onAnswer: OnTcpAnswer;
  /** Number of answers from which the detector did not learn because it was too busy. */
  readonly unlearned: () => number;
  /** Receives at most one exception per minute that was caught while a message was handled, with its stack trace. */
  readonly onFault: (fault: string) => void;
  /** Receives the reason why a connection was not accepted, e.g. for lack of file descriptors. */
  readonly onNotAccepted: (reason: string) => void;
  readonly scheduler: Scheduler;
}

export class LocalTcpRelay implements TcpRelay {
  readonly #isGuarded: boolean;
  readonly #dependencies: LocalTcpRelayDependencies;
  readonly #faults: PacketFaults;
  readonly #health: TcpHealth;
  readonly #connections: TcpConnections;
  readonly #listeners = new Map<number, Server>();

  constructor(options: LocalTcpRelayOptions, dependencies: LocalTcpRelayDependencies) {
    const { servers, probeName, maxQueries, transfersAllow } = options;
    const { key, policy, onAnswer, onFault, serversInOrder, isAnyUp, scheduler } = dependencies;
    this.#isGuarded = options.guarded;
    this.#dependencies = dependencies;
    this.#faults = new PacketFaults(onFault);
    const health = new TcpHealth(servers, probeOf(probeName, key));
    this.#health = health;
    this.#connections = new TcpConnections({
      servers: () => health.inOrder(serversInOrder()),
      // Connections to a server may stay open if it answers over TCP, or if no DNS server does.
      isInUse: (server) => health.answers(server) || health.answering === 0,
      isAnyInUse: () => health.isAnyAnswering ?? isAnyUp(),
      onAnswer,
      mayTransfer: networkMatcher(transfersAllow),
      key,
      decide: (question, client) => this.#decide(question, client),
      countUser: (userZone, end) => policy.countUser(userZone, end),
      maxQueries,
      faults: this.#faults,
      scheduler,
    });
  }

  get figures(): TcpFigures {
    const { connections, serverConnections, servfails, counts } = this.#connections;
    return {
      connections,
      serverConnections,
      servfails,
      counts,
      serversUp: this.#health.answering,
      unlearned: this.#dependencies.unlearned(),
      faults: this.#faults.count,
    };
  }

  async listen(frontend: number, { host, port }: ServerAddress): Promise<number> {
    const server = this.#connections.createServer();
    server.listen({ port, host, backlog: BACKLOG });
    await once(server, 'listening');
    server.on('error', ({ message }) => this.#dependencies.onNotAccepted(message));
    this.#listeners.set(frontend, server);
    return (server.address() as AddressInfo).port; // it listens on a port
  }

  async unlisten(frontend: number): Promise<void> {
    const server = this.#listeners.get(frontend);
    this.#listeners.delete(frontend);
    await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  }

  /** Does nothing, because the health over TCP has its own timer. */
  tick(): void {}

  async close(): Promise<void> {
    this.#health.close();
    this.#connections.close();
    await Promise.all([...this.#listeners.keys()].map((frontend) => this.unlisten(frontend)));
  }

  #decide(question: Question, client: TcpClient): TcpDecision {
    if (!this.#isGuarded) return { verdict: verdictOf('passed', 'none'), userZone: 0, isNameListed: false };
    const { policy } = this.#dependencies;
    const nowMs = Date.now();
    const verdict = isCookie(question)
      ? policy.decideCookie(question, client, nowMs)
      : policy.decide(question, client, nowMs);
    return { verdict, userZone: policy.userZone, isNameListed: policy.isNameListed };
  }
}
