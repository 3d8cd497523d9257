/** The embedded data plane: listeners in front, servers behind, every query decided about between the two. */
import type { Registry } from 'prom-client';
import { type Network, type ServerAddress, within } from '../../../platform/addresses/index.ts';
import { type SampleBatch, type TcpClient, type Verdict, verdictOf } from '../../detector/index.ts';
import { Question, readAnswer, readResultNames } from '../../protocol/index.ts';
import { type DataPlane, type DataPlaneContext, type DnsServer, PacketFaults } from '../index.ts';
import { type Listener, listenAt } from './listener.ts';
import { LocalUdpRelay } from './localUdpRelay.ts';
import { registerEmbeddedMetrics } from './metrics.ts';
import { probeOf } from './probe.ts';
import { type LimitedAnswers, newRateCounters, type ResponseRateLimitOptions } from './responseRateLimit.ts';
import { ServerLog } from './serverLog.ts';
import { TcpHealth } from './tcpHealth.ts';
import { TcpRelay } from './tcpRelay.ts';
import { ThreadedUdpRelay } from './threadedUdpRelay.ts';
import { cannotSharePort, threadsFor } from './threads/index.ts';
import { FrontendNumbers } from './udpAddresses.ts';
import type { ServerState, UdpRelay } from './udpRelay.ts';

export interface EmbeddedOptions {
  /** Where to listen, for UDP and TCP; port 0 takes one that is free for both. */
  readonly listen: readonly ServerAddress[];
  /** The authoritative servers behind, one at least. */
  readonly servers: readonly DnsServer[];
  /** Whose SOA the servers are asked for, to know whether they are well; the root's where left out. */
  readonly probeName?: string | undefined;
  /** How many equal answers over UDP one network of clients gets; no limit where left out or 0 a second. */
  readonly responseRateLimit?: ResponseRateLimitOptions;
  /** How long a server may take to answer, in milliseconds. */
  readonly timeoutMs?: number;
  /** Threads that receive over UDP; 0 for as many as {@link threadsFor} finds good, one where left out. */
  readonly workers?: number;
  /** False passes everything that is a query, undecided: what there is to compare with. */
  readonly guarded?: boolean;
  /** Queries of one TCP connection, after which it ends. */
  readonly tcpMaxQueries?: number;
  /** Networks and addresses that may transfer zones, over TCP; nobody where left out. */
  readonly transfersAllow?: readonly Network[];
}

/** Longer than a healthy server ever takes, shorter than most resolvers' patience with all their attempts. */
const DEFAULT_TIMEOUT_MS = 2000;
/** Honest clients open a new connection after so many and hardly notice (RFC 7766, 6.2.1). */
const DEFAULT_TCP_MAX_QUERIES = 1000;

export class EmbeddedDataPlane implements DataPlane {
  readonly #options: EmbeddedOptions;
  readonly #context: DataPlaneContext;
  readonly #listeners: Listener[] = [];
  readonly #serverLog: ServerLog;
  readonly #tcpFaults: PacketFaults;
  readonly #tcpQuestion = new Question();
  readonly #tcpHealth: TcpHealth;
  readonly #tcp: TcpRelay;
  #udp: UdpRelay | undefined;

  constructor(options: EmbeddedOptions, context: DataPlaneContext) {
    this.#options = options;
    this.#context = context;
    this.#serverLog = new ServerLog(context.log);
    this.#tcpFaults = new PacketFaults(this.#logFault);
    const { servers, probeName } = options;
    this.#tcpHealth = new TcpHealth(servers, probeOf(probeName, context.detector.key));
    this.#tcp = new TcpRelay({
      servers: () => this.#tcpHealth.inOrder(this.#udp?.inOrder() ?? []),
      isInUse: (server) => this.#isInUse(server),
      onAnswer: (head, client) => this.#learnOverTcp(head, client),
      mayTransfer: within(options.transfersAllow ?? []),
      key: context.detector.key,
      decide: (question, connection) => this.#decideOverTcp(question, connection),
      maxQueries: options.tcpMaxQueries ?? DEFAULT_TCP_MAX_QUERIES,
      faults: this.#tcpFaults,
    });
  }

  /** In the order of `listen`; a wildcard as itself. */
  get addresses(): readonly ServerAddress[] {
    return this.#listeners.map(({ address }) => address);
  }

  get servers(): readonly ServerState[] {
    return this.#udp?.servers ?? [];
  }

  /** The threads that receive; none where this thread does. */
  get threads(): ThreadedUdpRelay['workers'] {
    return this.#udp instanceof ThreadedUdpRelay ? this.#udp.workers : [];
  }

  /** Servers that answer over TCP. */
  get tcpServers(): number {
    return this.#tcpHealth.answering;
  }

  get tcp(): Pick<TcpRelay, 'connections' | 'serverConnections' | 'counts'> {
    return this.#tcp;
  }

  /** Packets read over UDP by what came of it (`ok`, or the fault). */
  packets(): Record<(typeof readResultNames)[number], number> {
    const packets = this.#udp?.packets() ?? [];
    // The names are the keys of the record, each with its number: the entries are the whole of it.
    return Object.fromEntries(readResultNames.map((name, result) => [name, packets[result] ?? 0])) as Record<
      (typeof readResultNames)[number],
      number
    >;
  }

  /** Answers that taught nothing, because the detector was too busy to hear of them. */
  unlearned(): number {
    return this.#udp?.unlearned() ?? 0;
  }

  /** Answers over UDP above the limit of equal answers to one network. */
  limited(): LimitedAnswers {
    return this.#udp?.limited() ?? { truncated: 0, dropped: 0 };
  }

  /** Packets whose handling failed by a fault of the guard's own. */
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

  /** Every query is decided about as it comes, by flags in shared memory: a change is in force already. */
  policyChanged(): void {}

  tick(nowMs: number): void {
    this.#udp?.tick(nowMs);
    for (const { udp } of this.#listeners) udp.follow(nowMs);
    this.#serverLog.note(this.servers);
  }

  takeSamples(): readonly SampleBatch[] {
    return this.#udp?.takeSamples() ?? [];
  }

  notReady(): string | undefined {
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

  /** One thread is this one; several share the ports, where Node can do that. */
  async #startUdp(): Promise<UdpRelay> {
    const { servers, probeName, timeoutMs = DEFAULT_TIMEOUT_MS, guarded = true, workers = 1 } = this.#options;
    const { responseRateLimit: limit } = this.#options;
    const isLimited = limit !== undefined && limit.perSecond > 0;
    const responseRateLimit = isLimited ? limit : undefined;
    const rateCounters = isLimited ? newRateCounters() : undefined;
    const { detector, log } = this.#context;
    const reason = cannotSharePort();
    const threads = threadsFor(workers, reason);
    if (workers !== 1 && reason !== undefined) log.info({ reason }, 'one thread receives DNS');
    const task = { servers, probeName, responseRateLimit, rateCounters, timeoutMs, guarded };
    if (threads > 1)
      return ThreadedUdpRelay.start({ threads, task }, { detector, log, onFault: this.#logFault });
    // A port that can be shared is listened on by several sockets: each has a buffer of its own for the bursts of a flood.
    const udp = new LocalUdpRelay(
      { ...task, sharesPorts: reason === undefined },
      {
        policy: detector,
        rateCounters,
        onAnswer: (answer, question, client) => detector.learnAnswer(answer, question, client, Date.now()),
        onFault: this.#logFault,
      },
    );
    await udp.opened();
    return udp;
  }

  /** Whether a connection to this server may stay: it answers, or no other does. */
  #isInUse(server: DnsServer): boolean {
    return this.#tcpHealth.answers(server) || this.#tcpHealth.answering === 0;
  }

  #decideOverTcp(question: Question, client: TcpClient): Verdict {
    if (this.#options.guarded === false) return verdictOf('passed', 'none');
    return this.#context.detector.decideOverTcp(question, client, Date.now());
  }

  /** Answers over TCP teach as those over UDP do, and the client is who it says it is. */
  #learnOverTcp(head: Uint8Array, client: string): void {
    const { detector } = this.#context;
    try {
      if (readAnswer(head, detector.key, this.#tcpQuestion))
        detector.learnAnswer(head, this.#tcpQuestion, client, Date.now(), true);
    } catch (error) {
      this.#tcpFaults.note(error, Date.now());
    }
  }

  readonly #logFault = (fault: string): void =>
    this.#context.log.warn(
      { fault },
      'a packet could not be handled and was dropped, by a fault of Floodgate: please report it',
    );
}

/** Its connections are closed already. */
const closeTcp = async ({ tcp }: Listener): Promise<void> => {
  await new Promise((resolve) => tcp.close(resolve));
};
