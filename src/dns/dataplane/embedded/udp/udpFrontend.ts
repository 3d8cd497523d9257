/** A UDP socket that receives queries. Parses each packet, gets a verdict, and forwards, answers or drops it. */
import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from 'node:dgram';
import { once } from 'node:events';
import {
  FIRST_LIMITED,
  FIRST_NOT_FORWARDED,
  FIRST_TRUNCATION,
  type LimitedSamples,
  type QueryPolicy,
  UserEnd,
} from '../../../detector/index.ts';
import { type HashKey, Question, ReadResult, readQuery, readResultNames } from '../../../protocol/index.ts';
import type { PacketFaults } from '../../index.ts';
import { LocalResponse, respondInPlace, responseTo } from '../localResponses.ts';
import type { Backends } from '../servers/backends.ts';
import type { ServfailLimit } from '../servfailLimit.ts';
import { noLookup } from './noLookup.ts';

/** Size of the socket buffers, enough for about 0.1 s of a full flood. The kernel drops packets that do not fit. */
const FRONTEND_BUFFER_BYTES = 8 * 1024 * 1024;
/** Maximum time that a packet waits in the receive buffer of a saturated thread. After that, an answer is useless. */
const MAX_QUEUE_SECONDS = 0.25;
/** Buffer size to request per queued query. Linux doubles the size, and needs at least 768 bytes per query. */
const QUEUED_QUERY_BYTES = 512;
/** Minimum size of the receive buffer, enough for several iterations of the event loop with 32 packets each. */
const LEAST_BUFFER_BYTES = 64 * 1024;

export interface UdpFrontendOptions {
  readonly host: string;
  /** Number of the frontend. A pending query contains it, so that the answer is sent from the same address. */
  readonly frontend: number;
  readonly guarded: boolean;
  /** True if other sockets listen on the same port, in this thread and possibly in other threads. */
  readonly sharesPorts: boolean;
}

/** Gives verdicts in one thread. A receiver thread has its own `QueryPolicy`, the main thread uses the detector. */
export type UdpPolicy = Pick<QueryPolicy, 'decide' | 'decideCookie' | 'countUser'> &
  Readonly<Pick<QueryPolicy, 'userZone'>> & { readonly key: HashKey };

export interface UdpFrontendDependencies {
  readonly policy: UdpPolicy;
  readonly backends: Backends;
  readonly samples: LimitedSamples;
  readonly faults: PacketFaults;
  /** Limits the SERVFAIL answers of the thread. */
  readonly servfails: ServfailLimit;
}

export class UdpFrontend {
  readonly socket: Socket;
  readonly read = new Float64Array(readResultNames.length);
  readonly #policy: UdpFrontendDependencies['policy'];
  readonly #backends: Backends;
  readonly #samples: LimitedSamples;
  readonly #faults: PacketFaults;
  readonly #servfails: ServfailLimit;
  readonly #frontend: number;
  readonly #guarded: boolean;
  readonly #question = new Question();
  #packets = 0;

  constructor(
    { host, frontend, guarded, sharesPorts }: UdpFrontendOptions,
    { policy, backends, samples, faults, servfails }: UdpFrontendDependencies,
  ) {
    this.#policy = policy;
    this.#backends = backends;
    this.#samples = samples;
    this.#faults = faults;
    this.#servfails = servfails;
    this.#frontend = frontend;
    this.#guarded = guarded;
    const options: SocketOptions & { reusePort?: boolean } = {
      type: host.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: FRONTEND_BUFFER_BYTES,
      sendBufferSize: FRONTEND_BUFFER_BYTES,
      lookup: noLookup,
    };
    // The type definitions of the oldest supported Node version lack `reusePort`. That version must not get the
    // option.
    if (sharesPorts) options.reusePort = true;
    this.socket = createSocket(options);
  }

  async listen(host: string, port: number): Promise<void> {
    // Without a DNS lookup, `listening` may fire before bind() returns. Therefore its listener is registered first.
    const listening = once(this.socket, 'listening');
    this.socket.bind({ address: host, port });
    await listening;
    // Errors while sending are ignored: they concern one client that is gone, and the socket still works.
    this.socket.on('error', () => {});
    this.socket.on('message', (packet, client) => {
      const nowMs = Date.now();
      try {
        this.#receive(packet, client, nowMs);
      } catch (error) {
        this.#faults.note(error, nowMs);
      }
    });
  }

  answer(answer: Uint8Array, address: string, port: number): void {
    this.socket.send(answer, port, address);
  }

  /**
   * Sets the size of the receive buffer. Called every second. In a saturated thread, the buffer holds the packets of
   * a quarter of a second, so that no packet waits longer. Otherwise the buffer has its maximum size, for bursts.
   */
  adjustReceiveBuffer(isSaturated: boolean): void {
    const packets = this.read.reduce((total, count) => total + count, 0);
    const inQueue = (packets - this.#packets) * MAX_QUEUE_SECONDS;
    this.#packets = packets;
    const bytes = isSaturated
      ? Math.min(FRONTEND_BUFFER_BYTES, Math.max(LEAST_BUFFER_BYTES, inQueue * QUEUED_QUERY_BYTES))
      : FRONTEND_BUFFER_BYTES;
    this.socket.setRecvBufferSize(Math.round(bytes));
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.socket.close(resolve));
  }

  #receive(packet: Buffer, client: RemoteInfo, nowMs: number): void {
    const result =
      client.port === 0 ? ReadResult.portZero : readQuery(packet, this.#policy.key, this.#question);
    this.read[result] = (this.read[result] ?? 0) + 1;
    if (result === ReadResult.ok) {
      if (this.#passes(packet, client, nowMs)) this.#forward(packet, client, nowMs);
    } else if (result === ReadResult.cookie) this.#receiveCookie(packet, client, nowMs);
    else this.#answerFault(packet, result, client);
  }

  /** Returns true if a parsed query may be forwarded. If not, answers with TC=1 or drops the query. */
  #passes(packet: Buffer, client: RemoteInfo, nowMs: number): boolean {
    if (!this.#guarded) return true;
    const verdict = this.#policy.decide(this.#question, nowMs, client.address);
    if (verdict < FIRST_LIMITED) return true;
    this.#samples.note(packet, this.#question.end, client.address);
    if (verdict < FIRST_NOT_FORWARDED) return true;
    this.#policy.countUser(this.#policy.userZone, UserEnd.limited);
    if (verdict >= FIRST_TRUNCATION) this.#respond(packet, LocalResponse.truncated, client);
    return false;
  }

  /** Forwards a query that consists of a DNS cookie, or limits it. */
  #receiveCookie(packet: Buffer, client: RemoteInfo, nowMs: number): void {
    if (!this.#guarded) return this.#forward(packet, client, nowMs);
    const verdict = this.#policy.decideCookie(this.#question, nowMs, client.address);
    if (verdict < FIRST_NOT_FORWARDED) this.#forward(packet, client, nowMs);
    else if (verdict >= FIRST_TRUNCATION) this.#respond(packet, LocalResponse.truncated, client);
  }

  #forward(packet: Buffer, client: RemoteInfo, nowMs: number): void {
    const { userZone } = this.#policy;
    if (this.#backends.forward(packet, this.#question, client, this.#frontend, nowMs, userZone)) return;
    this.#policy.countUser(userZone, UserEnd.unanswered);
    if (!this.#backends.isAnyInUse && this.#servfails.take(nowMs))
      this.#respond(packet, LocalResponse.noServer, client);
  }

  #answerFault(packet: Buffer, result: ReadResult, client: RemoteInfo): void {
    if (result === ReadResult.tooShort || result === ReadResult.response || result === ReadResult.portZero)
      return;
    this.#respond(packet, responseTo(result), client);
  }

  #respond(packet: Buffer, response: LocalResponse, client: RemoteInfo): void {
    const length = respondInPlace(packet, this.#question, response);
    this.answer(packet.subarray(0, length), client.address, client.port);
  }
}
