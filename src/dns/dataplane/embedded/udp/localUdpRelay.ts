/** Relays DNS over UDP in one thread, which has its own listening sockets and sockets to the DNS servers. */

import type { ServerAddress } from '../../../../platform/addresses/index.ts';
import { LimitedSamples, type SampleBatch, UserEnd, userEndOf } from '../../../detector/index.ts';
import { HEADER_BYTES, type Question, questionsEnd, readResultNames } from '../../../protocol/index.ts';
import { type DnsServer, PacketFaults, ResponseTimes } from '../../index.ts';
import { LocalResponse, respondInPlace } from '../localResponses.ts';
import { ResponseRateLimit, type ResponseRateLimitOptions } from '../responseRateLimit.ts';
import type { Backend } from '../servers/backend.ts';
import { Backends } from '../servers/backends.ts';
import type { InFlight } from '../servers/inFlight.ts';
import { probeOf } from '../servers/probe.ts';
import { ListenAddresses } from '../servers/proxyHeader.ts';
import { ServfailLimit } from '../servfailLimit.ts';
import { UdpFrontend, type UdpPolicy } from './udpFrontend.ts';
import type { UdpRelay } from './udpRelay.ts';

/** Receives each answer of a DNS server, unless the answer has no question, and the address of the client. */
export type OnAnswer = (answer: Uint8Array, question: Question, client: string) => void;

export interface LocalUdpRelayOptions {
  readonly servers: readonly DnsServer[];
  readonly timeoutMs: number;
  /** Name in the SOA query that probes the health of a DNS server. Default: the root. */
  readonly probeName?: string | undefined;
  readonly responseRateLimit?: ResponseRateLimitOptions | undefined;
  /** If false, all valid queries are forwarded without a decision. */
  readonly guarded: boolean;
  /** True if several sockets listen on each port, in this thread and possibly in other threads. */
  readonly sharesPorts: boolean;
}

export interface LocalUdpRelayDependencies {
  readonly policy: UdpPolicy;
  readonly onAnswer: OnAnswer;
  readonly rateCounters?: SharedArrayBuffer | undefined;
  /** Memory of `ResponseTimes`. */
  readonly responseTimes: SharedArrayBuffer;
  /** Receives at most one exception per minute that was caught while a packet was handled, with its stack trace. */
  readonly onFault: (fault: string) => void;
}

/**
 * Number of sockets per thread on a shared port. The kernel assigns each client to one socket, so more sockets spread
 * a flood more evenly over the threads. Each socket also has its own receive buffer for bursts.
 */
export const SOCKETS_PER_THREAD = 4;

/** Event-loop utilization above which a thread is saturated: packets always wait in its receive buffers. */
const SATURATED = 0.98;
/** Number of saturated seconds after which receive buffers are reduced. Most bursts are processed before that. */
const STANDING_TICKS = 3;

export class LocalUdpRelay implements UdpRelay {
  readonly #options: LocalUdpRelayOptions;
  readonly #policy: LocalUdpRelayDependencies['policy'];
  readonly #backends: Backends;
  readonly #faults: PacketFaults;
  readonly #samples = new LimitedSamples();
  readonly #listenAddresses = new ListenAddresses();
  /** Number of packets received on sockets that are now closed, indexed by parse result. */
  readonly #readBefore = new Float64Array(readResultNames.length);
  readonly #limit: ResponseRateLimit | undefined;
  readonly #servfails = new ServfailLimit();
  /** Listening sockets by frontend number. Any of the sockets can send an answer to a client of that frontend. */
  readonly #frontends = new Map<number, readonly UdpFrontend[]>();
  #utilization = performance.eventLoopUtilization();
  #saturatedTicks = 0;

  constructor(options: LocalUdpRelayOptions, dependencies: LocalUdpRelayDependencies) {
    const { policy, onAnswer, onFault, rateCounters, responseTimes } = dependencies;
    this.#options = options;
    this.#policy = policy;
    const { servers, timeoutMs, probeName, responseRateLimit } = options;
    const { key } = policy;
    if (responseRateLimit !== undefined && rateCounters !== undefined)
      this.#limit = new ResponseRateLimit(responseRateLimit, { key, counters: rateCounters });
    const faults = new PacketFaults(onFault);
    this.#faults = faults;
    this.#backends = new Backends(
      servers,
      { timeoutMs, key, probe: probeOf(probeName, key) },
      {
        faults,
        listenAddresses: this.#listenAddresses,
        responseTimes: new ResponseTimes(responseTimes),
        onUnanswered: (userZone) => policy.countUser(userZone, UserEnd.unanswered),
        onAnswer: (answer, { question, inFlight }, ticket) => {
          const address = inFlight.clientAddress(ticket);
          if (question.end > HEADER_BYTES) onAnswer(answer, question, address);
          const isLimited = this.#limit?.note(answer, question, address, Date.now()) ?? false;
          policy.countUser(inFlight.userZone(ticket), isLimited ? UserEnd.limited : userEndOf(answer));
          const query = { end: question.end, edns: inFlight.edns(ticket) };
          const length = isLimited ? respondInPlace(answer, query, LocalResponse.truncated) : answer.length;
          this.#sendToClient(answer.subarray(0, length), inFlight, ticket);
        },
        onNoServer: (query, { inFlight }, ticket) => {
          if (!this.#servfails.take(Date.now())) return false;
          const asked = { end: questionsEnd(query), edns: inFlight.edns(ticket) };
          const length = respondInPlace(query, asked, LocalResponse.noServer);
          this.#sendToClient(query.subarray(0, length), inFlight, ticket);
          return true;
        },
      },
    );
  }

  /** Resolves when the sockets to the DNS servers are connected or have failed. */
  opened(): Promise<void> {
    return this.#backends.opened();
  }

  async listen(number: number, { host, port }: ServerAddress): Promise<void> {
    const { guarded, sharesPorts } = this.#options;
    const options = { host, frontend: number, guarded, sharesPorts };
    const dependencies = {
      policy: this.#policy,
      backends: this.#backends,
      samples: this.#samples,
      faults: this.#faults,
      servfails: this.#servfails,
    };
    const frontends = Array.from(
      { length: sharesPorts ? SOCKETS_PER_THREAD : 1 },
      () => new UdpFrontend(options, dependencies),
    );
    try {
      await Promise.all(frontends.map((frontend) => frontend.listen(host, port)));
    } catch (error) {
      await closeAll(frontends);
      throw error;
    }
    // An earlier attempt to listen may have succeeded in this thread, and failed in another thread. Its sockets are
    // closed.
    await closeAll(this.#frontends.get(number) ?? []);
    this.#frontends.set(number, frontends);
    this.#listenAddresses.listen(number, { host, port });
  }

  async unlisten(number: number): Promise<void> {
    const frontends = this.#frontends.get(number) ?? [];
    this.#frontends.delete(number);
    await closeAll(frontends);
    for (const { read } of frontends)
      for (const [result, packets] of read.entries())
        this.#readBefore[result] = (this.#readBefore[result] ?? 0) + packets;
  }

  get servers(): readonly Backend[] {
    return this.#backends.all;
  }

  /** Returns the DNS servers in the order in which to try them: those with the best health over UDP come first. */
  inOrder(): DnsServer[] {
    return this.#backends.inOrder();
  }

  packets(): readonly number[] {
    const frontends = [...this.#frontends.values()].flat();
    return readResultNames.map((_, result) =>
      frontends.reduce((total, { read }) => total + (read[result] ?? 0), this.#readBefore[result] ?? 0),
    );
  }

  limited(): number {
    return this.#limit?.limited ?? 0;
  }

  servfails(): number {
    return this.#servfails.sent;
  }

  /** Always 0, because in the thread of the detector every answer is learned immediately. */
  unlearned(): number {
    return 0;
  }

  takeSamples(): readonly SampleBatch[] {
    const batch = this.#samples.take();
    return batch === undefined ? [] : [batch];
  }

  faults(): number {
    return this.#faults.count;
  }

  tick(nowMs: number): void {
    this.#backends.tick(nowMs);
    const before = this.#utilization;
    this.#utilization = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(this.#utilization, before);
    this.#saturatedTicks = utilization > SATURATED ? this.#saturatedTicks + 1 : 0;
    const isSaturated = this.#saturatedTicks >= STANDING_TICKS;
    for (const frontend of [...this.#frontends.values()].flat()) frontend.adjustReceiveBuffer(isSaturated);
  }

  #sendToClient(answer: Buffer, inFlight: InFlight, ticket: number): void {
    answer.writeUInt16BE(inFlight.clientId(ticket), 0);
    this.#frontends
      .get(inFlight.frontend(ticket))?.[0]
      ?.answer(answer, inFlight.clientAddress(ticket), inFlight.clientPort(ticket));
  }

  async close(): Promise<void> {
    // The sockets to the DNS servers are closed first. Otherwise a late answer would be sent from a closed socket.
    this.#backends.close();
    await closeAll([...this.#frontends.values()].flat());
  }
}

async function closeAll(frontends: readonly UdpFrontend[]): Promise<void> {
  await Promise.all(frontends.map((frontend) => frontend.close()));
}
