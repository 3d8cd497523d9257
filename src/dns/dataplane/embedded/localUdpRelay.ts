/** All of one thread that carries packets: its listening sockets in front, its sockets to the servers behind. */

import type { ServerAddress } from '../../../platform/addresses/index.ts';
import { type QueryPolicy, RefusedSamples, type SampleBatch } from '../../detector/index.ts';
import { type HashKey, HEADER_BYTES, type Question, readResultNames } from '../../protocol/index.ts';
import { type DnsServer, PacketFaults } from '../index.ts';
import type { Backend } from './backend.ts';
import { Backends } from './backends.ts';
import { truncate } from './localResponses.ts';
import { probeOf } from './probe.ts';
import { ListenAddresses } from './proxyHeader.ts';
import {
  type LimitedAnswers,
  ResponseRateLimit,
  type ResponseRateLimitOptions,
} from './responseRateLimit.ts';
import { UdpFrontend } from './udpFrontend.ts';
import type { UdpRelay } from './udpRelay.ts';

/** Hears of each answer to a question that was read, and the address of whoever asked it. */
export type OnAnswer = (answer: Uint8Array, question: Question, client: string) => void;

export interface LocalUdpRelayOptions {
  readonly servers: readonly DnsServer[];
  readonly timeoutMs: number;
  /** Whose SOA the servers are asked for, to know whether they are well; the root's where left out. */
  readonly probeName?: string | undefined;
  /** How many equal answers one network gets; as many as there are where left out. */
  readonly responseRateLimit?: ResponseRateLimitOptions | undefined;
  /** False passes everything that is a query, undecided. */
  readonly guarded: boolean;
  /** Whether several sockets listen on each port, of this thread and of others. */
  readonly sharesPorts: boolean;
}

export interface LocalUdpRelayDependencies {
  readonly policy: Pick<QueryPolicy, 'decide' | 'samplesRefusals'> & { readonly key: HashKey };
  readonly onAnswer: OnAnswer;
  /** What is counted for the limit, by all threads together. */
  readonly rateCounters?: SharedArrayBuffer | undefined;
  /** Hears of what was thrown while a packet was handled, once a minute at most. */
  readonly onFault: (fault: string) => void;
}

/**
 * Sockets of one thread on a shared port. The kernel gives each client's packets to one of them: the more there are, the more
 * evenly a flood is spread over threads, and each has a receive buffer of its own for its bursts.
 */
export const SOCKETS_PER_THREAD = 4;

/** The share of its time that a thread with a queue which never empties is at work. */
const SATURATED = 0.98;
/** What piles up as a flood begins is read in the first seconds, where it can be at all. */
const STANDING_TICKS = 3;

export class LocalUdpRelay implements UdpRelay {
  readonly #options: LocalUdpRelayOptions;
  readonly #policy: LocalUdpRelayDependencies['policy'];
  readonly #backends: Backends;
  readonly #faults: PacketFaults;
  readonly #samples = new RefusedSamples();
  readonly #listenAddresses = new ListenAddresses();
  /** Packets at addresses that are listened on no more. */
  readonly #readBefore = new Float64Array(readResultNames.length);
  readonly #limit: ResponseRateLimit | undefined;
  /** By the number of the address; all sockets of one can send its answers. */
  readonly #frontends = new Map<number, readonly UdpFrontend[]>();
  #utilization = performance.eventLoopUtilization();
  #saturatedTicks = 0;

  constructor(options: LocalUdpRelayOptions, dependencies: LocalUdpRelayDependencies) {
    const { policy, onAnswer, onFault, rateCounters } = dependencies;
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
        onAnswer: (answer, { question, inFlight }, ticket) => {
          const address = inFlight.clientAddress(ticket);
          if (question.end > HEADER_BYTES) onAnswer(answer, question, address);
          const allowed = this.#limit === undefined ? answer : this.#limited(answer, question, address);
          if (allowed === undefined) return;
          allowed.writeUInt16BE(inFlight.clientId(ticket), 0);
          this.#frontends
            .get(inFlight.frontend(ticket))?.[0]
            ?.answer(allowed, address, inFlight.clientPort(ticket));
        },
      },
    );
  }

  /** Resolves when questions can be sent to the servers. */
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
    // The port before this one may have been free here and taken elsewhere.
    await closeAll(this.#frontends.get(number) ?? []);
    this.#frontends.set(number, frontends);
    this.#listenAddresses.listen(number, { host, port });
  }

  async leave(number: number): Promise<void> {
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

  inOrder(): DnsServer[] {
    return this.#backends.inOrder();
  }

  packets(): readonly number[] {
    const frontends = [...this.#frontends.values()].flat();
    return readResultNames.map((_, result) =>
      frontends.reduce((total, { read }) => total + (read[result] ?? 0), this.#readBefore[result] ?? 0),
    );
  }

  limited(): LimitedAnswers {
    return this.#limit?.limited ?? { truncated: 0, dropped: 0 };
  }

  /** Here the detector hears of every answer. */
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
    for (const frontend of [...this.#frontends.values()].flat()) frontend.fitQueue(isSaturated);
  }

  /** What of the answer may be sent: all, the question with TC=1, or nothing. */
  #limited(answer: Buffer, question: Question, address: string): Buffer | undefined {
    const outcome = this.#limit?.note(answer, question, address, Date.now());
    if (outcome === 'dropped') return undefined;
    return outcome === 'truncated' ? answer.subarray(0, truncate(answer, question.end)) : answer;
  }

  async close(): Promise<void> {
    // The servers first: an answer that still came would find the socket closed that it has to leave from.
    this.#backends.close();
    await closeAll([...this.#frontends.values()].flat());
  }
}

async function closeAll(frontends: readonly UdpFrontend[]): Promise<void> {
  await Promise.all(frontends.map((frontend) => frontend.close()));
}
