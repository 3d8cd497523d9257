/** Data plane inside the Floodgate process: receives DNS queries, and forwards those that pass to the DNS servers. */
import type { Registry } from 'prom-client';
import { type Network, networkMatcher, type ServerAddress } from '../../../platform/addresses/index.ts';
import { Scheduler } from '../../../platform/scheduler/index.ts';
import { type SampleBatch, type TcpClient, verdictOf } from '../../detector/index.ts';
import { isCookie, type Question, readResultNames } from '../../protocol/index.ts';
import {
  type DataPlane,
  type DataPlaneContext,
  type DnsServer,
  newResponseTimes,
  PacketFaults,
  ResponseTimes,
  UpstreamHealth,
} from '../index.ts';
import { type Listener, listenAt } from './listener.ts';
import { registerEmbeddedMetrics } from './metrics.ts';
import { newRateCounters, type ResponseRateLimitOptions } from './responseRateLimit.ts';
import { probeOf } from './servers/probe.ts';
import { HealthStatus } from './servers/serverHealth.ts';
import { ServerLog } from './servers/serverLog.ts';
import { TcpHealth } from './tcp/tcpHealth.ts';
import { type TcpDecision, TcpRelay } from './tcp/tcpRelay.ts';
import { cannotSharePort, threadsFor } from './threads/index.ts';
import { LocalUdpRelay } from './udp/localUdpRelay.ts';
import { ThreadedUdpRelay } from './udp/threadedUdpRelay.ts';
import { FrontendNumbers } from './udp/udpAddresses.ts';
import type { ServerState, UdpRelay } from './udp/udpRelay.ts';

export interface EmbeddedOptions {
  /** Listen addresses for UDP and TCP. Port 0 picks a port that is free for both. */
  readonly listen: readonly ServerAddress[];
  readonly servers: readonly DnsServer[];
  /** Name in the SOA query that probes the health of a DNS server. Default: the root. */
  readonly probeName?: string | undefined;
  /** Maximum rate of equal UDP answers to one client network. No limit by default, and if `perSecond` is 0. */
  readonly responseRateLimit?: ResponseRateLimitOptions;
  /** Time in which a DNS server must answer a UDP query, in milliseconds. Default: 2000. */
  readonly timeoutMs?: number;
  /**
   * Number of threads that receive UDP queries. 1, the default: the main thread. If 0, {@link threadsFor} chooses the
   * number. For any other value than 1, the main thread receives none.
   */
  readonly threads?: number;
  /** If false, all valid queries are forwarded without a decision, for comparison in benchmarks. Default: true. */
  readonly guarded?: boolean;
  /** Number of queries after which a client's TCP connection is closed. Default: 1000. */
  readonly tcpMaxQueries?: number;
  /** Networks whose clients may transfer zones (AXFR, IXFR), over TCP only. Default: none. */
  readonly transfersAllow?: readonly Network[];
  /** Divides the processor time of the main thread among clients over TCP. Default: a scheduler of this data plane. */
  readonly scheduler?: Scheduler | undefined;
}

/** Answer timeout: longer than a healthy DNS server needs, but shorter than the total timeout of most resolvers. */
export const DEFAULT_TIMEOUT_MS = 2000;
/** Query limit per TCP connection. Clients hardly notice one reconnect per 1000 queries (RFC 7766, 6.2.1). */
const DEFAULT_TCP_MAX_QUERIES = 1000;

export class EmbeddedDataPlane implements DataPlane {
  readonly #options: EmbeddedOptions;
  readonly #context: DataPlaneContext;
  readonly #listeners: Listener[] = [];
  readonly #serverLog: ServerLog;
  readonly #tcpFaults: PacketFaults;
  readonly #tcpHealth: TcpHealth;
  readonly #tcp: TcpRelay;
  readonly #responseTimes = newResponseTimes();
  readonly #upstreamHealth: UpstreamHealth;
  #udp: UdpRelay | undefined;

  constructor(options: EmbeddedOptions, context: DataPlaneContext) {
    this.#options = options;
    this.#context = context;
    this.#serverLog = new ServerLog(context.log);
    this.#upstreamHealth = new UpstreamHealth(new ResponseTimes(this.#responseTimes), context.log);
    this.#tcpFaults = new PacketFaults(this.#logFault);
    const { servers, probeName } = options;
    this.#tcpHealth = new TcpHealth(servers, probeOf(probeName, context.detector.key));
    this.#tcp = new TcpRelay({
      servers: () => this.#tcpHealth.inOrder(this.#udp?.inOrder() ?? []),
      isInUse: (server) => this.#isInUse(server),
      isAnyInUse: () => this.#tcpHealth.isAnyAnswering ?? this.servers.some(({ up }) => up),
      onAnswer: (head, question, client) => this.#learnOverTcp(head, question, client),
      mayTransfer: networkMatcher(options.transfersAllow ?? []),
      key: context.detector.key,
      decide: (question, connection) => this.#decideOverTcp(question, connection),
      countUser: (userZone, end) => context.detector.countUser(userZone, end),
      maxQueries: options.tcpMaxQueries ?? DEFAULT_TCP_MAX_QUERIES,
      faults: this.#tcpFaults,
      scheduler: options.scheduler ?? new Scheduler(),
    });
  }

  /** Listen addresses, in the order of the option `listen`. A wildcard address is not expanded. */
  get addresses(): readonly ServerAddress[] {
    return this.#listeners.map(({ address }) => address);
  }

  get servers(): readonly ServerState[] {
    return this.#udp?.servers ?? [];
  }

  /** Threads that receive UDP queries. Empty if the main thread itself receives them. */
  get threads(): ThreadedUdpRelay['workers'] {
    return this.#udp instanceof ThreadedUdpRelay ? this.#udp.workers : [];
  }

  get tcpServers(): number {
    return this.#tcpHealth.answering;
  }

  get tcp(): Pick<TcpRelay, 'connections' | 'serverConnections' | 'servfails' | 'counts'> {
    return this.#tcp;
  }

  /** Returns the number of received UDP packets by parse result (`ok` or a fault). */
  packets(): Record<(typeof readResultNames)[number], number> {
    const packets = this.#udp?.packets() ?? [];
    // The cast is safe, because readResultNames are the keys of the record and every one of them has an entry.
    return Object.fromEntries(readResultNames.map((name, result) => [name, packets[result] ?? 0])) as Record<
      (typeof readResultNames)[number],
      number
    >;
  }

  /** Returns the number of answers from which the detector did not learn because it was too busy. */
  unlearned(): number {
    return this.#udp?.unlearned() ?? 0;
  }

  /** Returns the number of SERVFAIL answers of the guard itself over UDP. Those over TCP are in {@link tcp}. */
  servfails(): number {
    return this.#udp?.servfails() ?? 0;
  }

  limited(): number {
    return this.#udp?.limited() ?? 0;
  }

  faults(): number {
    return (this.#udp?.faults() ?? 0) + this.#tcpFaults.count;
  }

  async start(): Promise<void> {
    const udp = await this.#startUdp();
    this.#udp = udp;
    const numbers = new FrontendNumbers();
    const dependencies = { udp, tcp: this.#tcp, log: this.#context.log };
    for (const address of this.#options.listen)
      this.#listeners.push(await listenAt(address, numbers, dependencies));
    this.#serverLog.note(udp.servers);
  }

  /** Does nothing. Each verdict depends on policy flags in shared memory, so a changed rule already applies. */
  policyChanged(): void {}

  tick(nowMs: number): void {
    this.#udp?.tick(nowMs);
    for (const { udp } of this.#listeners) udp.refresh(nowMs);
    this.#serverLog.note(this.servers);
  }

  upstreamsHealthy(nowMs: number): boolean {
    const isAnyUsed = this.servers.some(({ status }) => status <= HealthStatus.worse);
    return this.#upstreamHealth.update(nowMs, isAnyUsed);
  }

  takeSamples(): readonly SampleBatch[] {
    return this.#udp?.takeSamples() ?? [];
  }

  notReadyReason(): string | undefined {
    return this.servers.some(({ up }) => up) ? undefined : 'no DNS server answers';
  }

  registerMetrics(registry: Registry): void {
    registerEmbeddedMetrics(this, registry);
  }

  async stop(): Promise<void> {
    this.#tcpHealth.close();
    this.#tcp.close();
    await Promise.all(this.#listeners.map(({ udp }) => udp.settled()));
    await Promise.all([...this.#listeners.map(closeTcp), this.#udp?.close()]);
  }

  /** Starts the UDP relay in the main thread or in threads: several if the platform lets them share a port. */
  async #startUdp(): Promise<UdpRelay> {
    const {
      servers,
      probeName,
      timeoutMs = DEFAULT_TIMEOUT_MS,
      guarded = true,
      threads: wanted = 1,
    } = this.#options;
    const { responseRateLimit: limit } = this.#options;
    const isLimited = limit !== undefined && limit.perSecond > 0;
    const responseRateLimit = isLimited ? limit : undefined;
    const rateCounters = isLimited ? newRateCounters() : undefined;
    const { detector, log } = this.#context;
    const reason = cannotSharePort();
    const threads = threadsFor(wanted, reason);
    if (wanted !== 1 && reason !== undefined) log.info({ reason }, 'DNS is received in a single thread');
    const responseTimes = this.#responseTimes;
    const task = {
      servers,
      probeName,
      responseRateLimit,
      rateCounters,
      responseTimes,
      timeoutMs,
      guarded,
      sharesPorts: reason === undefined,
    };
    if (wanted !== 1)
      return ThreadedUdpRelay.start({ threads, task }, { detector, log, onFault: this.#logFault });
    // If sockets can share a port, a single thread also opens several sockets per port. Each socket has its own
    // receive buffer, so that together they hold a larger burst.
    const udp = new LocalUdpRelay(task, {
      policy: detector,
      rateCounters,
      responseTimes,
      onAnswer: (answer, question, client) => detector.learnAnswer(answer, question, client, Date.now()),
      onFault: this.#logFault,
    });
    await udp.opened();
    return udp;
  }

  /** Returns true if TCP connections to this server may stay open: it answers over TCP, or no DNS server does. */
  #isInUse(server: DnsServer): boolean {
    return this.#tcpHealth.answers(server) || this.#tcpHealth.answering === 0;
  }

  #decideOverTcp(question: Question, client: TcpClient): TcpDecision {
    if (this.#options.guarded === false)
      return { verdict: verdictOf('passed', 'none'), userZone: 0, isNameListed: false };
    const { detector } = this.#context;
    const nowMs = Date.now();
    const verdict = isCookie(question)
      ? detector.decideCookieOverTcp(question, client, nowMs)
      : detector.decideOverTcp(question, client, nowMs);
    return { verdict, userZone: detector.userZone, isNameListed: detector.isNameListed };
  }

  /** Learns from an answer over TCP. Its client address is not forged, because a TCP connection verifies it. */
  #learnOverTcp(head: Uint8Array, question: Question, client: string): void {
    this.#context.detector.learnAnswer(head, question, client, Date.now(), true);
  }

  readonly #logFault = (fault: string): void =>
    this.#context.log.warn({ fault }, 'packet dropped because of a bug in Floodgate; please report it');
}

const closeTcp = async ({ tcp }: Listener): Promise<void> => {
  await new Promise((resolve) => tcp.close(resolve));
};
