/** A listening UDP socket: reads each packet, asks the policy, and forwards, answers or drops. */
import { createSocket, type RemoteInfo, type Socket, type SocketOptions } from 'node:dgram';
import { once } from 'node:events';
import {
  FIRST_REFUSAL,
  FIRST_TRUNCATION,
  FIRST_UNPAID,
  type QueryPolicy,
  type RefusedSamples,
} from '../../detector/index.ts';
import { type HashKey, Question, ReadResult, readQuery, readResultNames } from '../../protocol/index.ts';
import type { PacketFaults } from '../index.ts';
import type { Backends } from './backends.ts';
import { answerFault, truncate } from './localResponses.ts';
import { noLookup } from './noLookup.ts';

/** Large enough to hold a tenth of a second of a full flood: what overflows here is lost without a look at it. */
const FRONTEND_BUFFER_BYTES = 8 * 1024 * 1024;
/** What has waited longer in a queue that never empties comes too late for whoever asked. */
const MAX_QUEUE_SECONDS = 0.25;
/** Linux keeps twice as much as it is told, and counts 768 bytes and more for a query. */
const QUEUED_QUERY_BYTES = 512;
/** A turn of the event loop reads 32 packets: some turns. */
const LEAST_BUFFER_BYTES = 64 * 1024;

export interface UdpFrontendOptions {
  readonly host: string;
  /** How an answer finds its way back to this socket. */
  readonly frontend: number;
  /** While false everything readable passes. */
  readonly guarded: boolean;
  /** Whether other sockets, of this thread and of others, listen on the same port. */
  readonly sharesPorts: boolean;
}

export interface UdpFrontendDependencies {
  readonly policy: Pick<QueryPolicy, 'decide' | 'samplesRefusals'> & { readonly key: HashKey };
  readonly backends: Backends;
  readonly samples: RefusedSamples;
  readonly faults: PacketFaults;
}

export class UdpFrontend {
  readonly socket: Socket;
  /** Packets by what came of reading them, by the number of the result. */
  readonly read = new Float64Array(readResultNames.length);
  /** Queries that could not be sent to any server. */
  unsent = 0;
  readonly #policy: UdpFrontendDependencies['policy'];
  readonly #backends: Backends;
  readonly #samples: RefusedSamples;
  readonly #faults: PacketFaults;
  readonly #frontend: number;
  readonly #guarded: boolean;
  readonly #question = new Question();
  #packets = 0;

  constructor(
    { host, frontend, guarded, sharesPorts }: UdpFrontendOptions,
    { policy, backends, samples, faults }: UdpFrontendDependencies,
  ) {
    this.#policy = policy;
    this.#backends = backends;
    this.#samples = samples;
    this.#faults = faults;
    this.#frontend = frontend;
    this.#guarded = guarded;
    const options: SocketOptions & { reusePort?: boolean } = {
      type: host.includes(':') ? 'udp6' : 'udp4',
      recvBufferSize: FRONTEND_BUFFER_BYTES,
      sendBufferSize: FRONTEND_BUFFER_BYTES,
      lookup: noLookup,
    };
    // Newer than the types of the oldest Node that this runs on, which must not be given it.
    if (sharesPorts) options.reusePort = true;
    this.socket = createSocket(options);
  }

  async listen(host: string, port: number): Promise<void> {
    // With nothing to look up it listens before bind returns.
    const listening = once(this.socket, 'listening');
    this.socket.bind({ address: host, port });
    await listening;
    // One client that is gone is no fault of the socket.
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

  /** Sends an answer on to a client. */
  answer(answer: Uint8Array, address: string, port: number): void {
    this.socket.send(answer, port, address);
  }

  /**
   * Call it every second. Where this thread does nothing but work its queue is full, and what is read from it is as late as it is
   * long: it then holds no more than was read in a quarter of a second. Otherwise it is as long as can be, for bursts.
   */
  fitQueue(isSaturated: boolean): void {
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
    if (result !== ReadResult.ok) this.#answerFault(packet, result, client);
    else if (this.#passes(packet, client, nowMs)) this.#forward(packet, client, nowMs);
  }

  /** Whether the question just read may go to the servers; one that may not is answered here or dropped. */
  #passes(packet: Buffer, client: RemoteInfo, nowMs: number): boolean {
    if (!this.#guarded) return true;
    const verdict = this.#policy.decide(this.#question, nowMs, client.address);
    if (verdict < FIRST_UNPAID) return true;
    if (this.#policy.samplesRefusals) this.#samples.note(packet, this.#question.end, client.address);
    if (verdict < FIRST_REFUSAL) return true;
    if (verdict >= FIRST_TRUNCATION)
      this.answer(packet.subarray(0, truncate(packet, this.#question.end)), client.address, client.port);
    return false;
  }

  #forward(packet: Buffer, client: RemoteInfo, nowMs: number): void {
    if (!this.#backends.forward(packet, this.#question, client, this.#frontend, nowMs)) this.unsent++;
  }

  #answerFault(packet: Buffer, result: ReadResult, client: RemoteInfo): void {
    if (result === ReadResult.tooShort || result === ReadResult.response || result === ReadResult.portZero)
      return;
    this.answer(
      packet.subarray(0, answerFault(packet, result, this.#question.end)),
      client.address,
      client.port,
    );
  }
}
