/** Data plane inside the Floodgate process: receives DNS queries, and forwards those that pass to the DNS servers. */
import type { Registry } from 'prom-client';
import type { Network, ServerAddress } from '../../../platform/addresses/index.ts';
import { Scheduler } from '../../../platform/scheduler/index.ts';
import type { SampleBatch } from '../../detector/index.ts';
import { readResultNames } from '../../protocol/index.ts';
import {
  type DataPlane,
  type DataPlaneContext,
  type DnsServer,
  newResponseTimes,
  ResponseTimes,
  UpstreamHealth,
} from '../index.ts';
import { type Listener, listenAt } from './listener.ts';
import { registerEmbeddedMetrics } from './metrics.ts';
import { newRateCounters, type ResponseRateLimitOptions } from './responseRateLimit.ts';
import { HealthStatus } from './servers/serverHealth.ts';
import { ServerLog } from './servers/serverLog.ts';
import { LocalTcpRelay } from './tcp/localTcpRelay.ts';
import { noTcpFigures, type TcpFigures, type TcpRelay } from './tcp/tcpRelay.ts';
import { ThreadedTcpRelay, type ThreadedTcpRelayOptions } from './tcp/threadedTcpRelay.ts';
import { cannotSharePort, threadsFor } from './threads/index.ts';
import { LocalUdpRelay } from './udp/localUdpRelay.ts';
import { ThreadedUdpRelay, type ThreadedUdpRelayOptions } from './udp/threadedUdpRelay.ts';
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
   * Number of threads that receive UDP queries. 1, the default: the main thread, which also serves TCP. If 0,
   * {@link threadsFor} chooses the number. For any other value than 1, another thread serves TCP.
   */
  readonly threads?: number;
  /** If false, all valid queries are forwarded without a decision, for comparison in benchmarks. Default: true. */
  readonly guarded?: boolean;
  /** Number of queries after which a client's TCP connection is closed. Default: 1000. */
  readonly tcpMaxQueries?: number;
  /** Networks whose clients may transfer zones (AXFR, IXFR), over TCP only. Default: none. */
  readonly transfersAllow?: readonly Network[];
  /** Divides the processor time of the main thread among clients. Default: a scheduler of this data plane. */
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
  readonly #responseTimes = newResponseTimes();
  readonly #upstreamHealth: UpstreamHealth;
  #udp: UdpRelay | undefined;
  #tcp: TcpRelay | undefined;

  constructor(options: EmbeddedOptions, context: DataPlaneContext) {
    this.#options = options;
    this.#context = context;
    this.#serverLog = new ServerLog(context.log);
    this.#upstreamHealth = new UpstreamHealth(new ResponseTimes(this.#responseTimes), context.log);
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

  get tcpThread(): ThreadedTcpRelay['worker'] {
    return this.#tcp instanceof ThreadedTcpRelay ? this.#tcp.worker : undefined;
  }

  get tcp(): TcpFigures {
    return this.#tcp?.figures ?? noTcpFigures();
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
    return (this.#udp?.unlearned() ?? 0) + this.tcp.unlearned;
  }

  /** Returns the number of SERVFAIL answers of the guard itself over UDP. Those over TCP are in {@link tcp}. */
  servfails(): number {
    return this.#udp?.servfails() ?? 0;
  }

  limited(): number {
    return this.#udp?.limited() ?? 0;
  }

  faults(): number {
    return (this.#udp?.faults() ?? 0) + this.tcp.faults;
  }

  async start(): Promise<void> {
    const { udp, tcp } = await this.#startRelays();
    const dependencies = { numbers: new FrontendNumbers(), udp, tcp, log: this.#context.log };
    for (const [index, address] of this.#options.listen.entries())
      this.#listeners.push(await listenAt(address, index, dependencies));
    this.#serverLog.note(udp.servers);
  }

  /** Does nothing. Each verdict depends on policy flags in shared memory, so a changed rule already applies. */
  policyChanged(): void {}

  tick(nowMs: number): void {
    this.#udp?.tick(nowMs);
    this.#tcp?.tick();
    for (const { udp } of this.#listeners) udp.refresh(performance.now());
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
    const statuses = this.servers.map(({ status }) => status);
    if (statuses.includes(HealthStatus.inUse)) return undefined;
    const isAnyFailing = statuses.includes(HealthStatus.failing);
    return isAnyFailing
      ? 'the DNS servers answer probes of dns.probeName with errors'
      : 'no DNS server answers';
  }

  registerMetrics(registry: Registry): void {
    registerEmbeddedMetrics(this, registry);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#listeners.map(({ udp }) => udp.settled()));
    await Promise.all([this.#tcp?.close(), this.#udp?.close()]);
  }

  /** Starts the relays in the main thread, or UDP in one or several threads and TCP in another one. */
  async #startRelays(): Promise<{ udp: UdpRelay; tcp: TcpRelay }> {
    const { servers, probeName, guarded = true, threads: wanted = 1 } = this.#options;
    const { timeoutMs = DEFAULT_TIMEOUT_MS, responseRateLimit: limit } = this.#options;
    const { tcpMaxQueries = DEFAULT_TCP_MAX_QUERIES, transfersAllow = [] } = this.#options;
    const isLimited = limit !== undefined && limit.perSecond > 0;
    const { log } = this.#context;
    const reason = cannotSharePort();
    if (wanted !== 1 && reason !== undefined)
      log.info({ reason }, 'DNS over UDP is received in a single thread');
    const common = { servers, probeName, guarded };
    const udpTask = {
      ...common,
      timeoutMs,
      responseRateLimit: isLimited ? limit : undefined,
      rateCounters: isLimited ? newRateCounters() : undefined,
      responseTimes: this.#responseTimes,
      // A single thread opens several sockets on a port, too. Each has its own receive buffer, so that together they
      // hold a larger burst.
      sharesPorts: reason === undefined,
    };
    const tcpTask = { ...common, maxQueries: tcpMaxQueries, transfersAllow };
    return wanted === 1
      ? this.#startLocal(udpTask, tcpTask)
      : this.#startThreads(threadsFor(wanted, reason), udpTask, tcpTask);
  }

  async #startLocal(
    udpTask: ThreadedUdpRelayOptions['task'],
    tcpTask: ThreadedTcpRelayOptions['task'],
  ): Promise<{ udp: UdpRelay; tcp: TcpRelay }> {
    const { detector } = this.#context;
    const onFault = this.#logFault;
    const udp = new LocalUdpRelay(udpTask, {
      policy: detector,
      rateCounters: udpTask.rateCounters,
      responseTimes: udpTask.responseTimes,
      onAnswer: (answer, question, client) => detector.learnAnswer(answer, question, client, Date.now()),
      onFault,
    });
    this.#udp = udp;
    await udp.opened();
    const tcp = new LocalTcpRelay(tcpTask, {
      key: detector.key,
      policy: detector.overTcp,
      serversInOrder: () => udp.inOrder(),
      isAnyUp: () => udp.servers.some(({ up }) => up),
      // Its client address is not forged, because a TCP connection verifies it.
      onAnswer: (head, question, client) => detector.learnAnswer(head, question, client, Date.now(), true),
      unlearned: () => 0,
      onFault,
      onNotAccepted: this.#logNotAccepted,
      scheduler: this.#options.scheduler ?? new Scheduler(),
    });
    this.#tcp = tcp;
    return { udp, tcp };
  }

  async #startThreads(
    threads: number,
    udpTask: ThreadedUdpRelayOptions['task'],
    tcpTask: ThreadedTcpRelayOptions['task'],
  ): Promise<{ udp: UdpRelay; tcp: TcpRelay }> {
    const { detector, log } = this.#context;
    const dependencies = { detector, log, onFault: this.#logFault };
    const udp = await ThreadedUdpRelay.start({ threads, task: udpTask }, dependencies);
    this.#udp = udp;
    const udpHealth = () => udp.servers.map(({ status }) => status);
    const tcp = await ThreadedTcpRelay.start(
      { index: threads, task: tcpTask, udpHealth },
      { ...dependencies, onNotAccepted: this.#logNotAccepted },
    );
    this.#tcp = tcp;
    return { udp, tcp };
  }

  readonly #logFault = (fault: string): void =>
    this.#context.log.warn({ fault }, 'packet dropped because of a bug in Floodgate; please report it');

  readonly #logNotAccepted = (reason: string): void =>
    this.#context.log.warn({ reason }, 'cannot accept a DNS over TCP connection');
}
