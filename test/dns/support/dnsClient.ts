import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import {
  HEADER_BYTES,
  nameToWire,
  QueryType,
  queryPacket,
  readUint16,
} from '../../../src/dns/protocol/index.ts';
import { until } from '../../support/until.ts';

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface Answer {
  readonly id: number;
  readonly rcode: number;
  readonly truncated: boolean;
  readonly answers: number;
  readonly bytes: Buffer;
}

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
} as const;

export const query = (name: string, type: number = QueryType.A, id = 1): Buffer =>
  Buffer.from(queryPacket(nameToWire(name), type, id));

/** Returns the query with an OPT record that offers this UDP size. */
export function withEdns(packet: Buffer, size: number): Buffer {
  const opt = Buffer.from([0, 0, 41, size >> 8, size & 0xff, 0, 0, 0, 0, 0, 0]);
  const whole = Buffer.concat([packet, opt]);
  whole.writeUInt16BE(1, 10);
  return whole;
}

export const parse = (bytes: Buffer): Answer => ({
  id: readUint16(bytes, 0),
  rcode: (bytes[3] ?? 0) & 0x0f,
  truncated: ((bytes[2] ?? 0) & 0x02) !== 0,
  answers: readUint16(bytes, 6),
  bytes,
});

/** Returns the question section of an answer, whose length is that in the query. */
export const questionBytes = (bytes: Buffer, ofQuery: Buffer): Buffer =>
  bytes.subarray(HEADER_BYTES, ofQuery.length);

/** A client on one socket that sends packets and stores answers by id. */
export class UdpClient {
  readonly socket: Socket = createSocket('udp4');
  readonly answers = new Map<number, Answer>();
  #arrived: () => void = () => {};

  async open(host = '127.0.0.1'): Promise<this> {
    this.socket.on('message', (bytes) => {
      const answer = parse(bytes);
      this.answers.set(answer.id, answer);
      this.#arrived();
    });
    this.socket.bind(0, host);
    await once(this.socket, 'listening');
    return this;
  }

  send(packet: Uint8Array, target: Target): void {
    this.socket.send(packet, target.port, target.host);
  }

  /** Sends a query every `retryMs` until it is answered. */
  async ask(packet: Buffer, target: Target, retryMs = 1000): Promise<Answer> {
    const id = packet.readUInt16BE(0);
    this.answers.delete(id);
    for (;;) {
      this.send(packet, target);
      if (await this.wait(() => this.answers.has(id), retryMs)) break;
    }
    const answer = this.answers.get(id);
    if (answer === undefined) throw new Error(`the answer ${id} was deleted before it was read`);
    return answer;
  }

  /** Sends queries with distinct ids, and repeats those without an answer, because a busy machine loses packets. */
  async askAll(packets: readonly Buffer[], target: Target, retryMs = 1000): Promise<void> {
    let waiting = packets;
    await until('each query to be answered', () => {
      for (const packet of waiting) this.send(packet, target);
      return this.wait(() => {
        waiting = waiting.filter((packet) => !this.answers.has(packet.readUInt16BE(0)));
        return waiting.length === 0;
      }, retryMs);
    });
  }

  /** Waits until the condition is true after an answer; returns false if it is still false after `limitMs`. */
  async wait(condition: () => boolean, limitMs: number): Promise<boolean> {
    const endMs = Date.now() + limitMs;
    while (!condition()) {
      const leftMs = endMs - Date.now();
      if (leftMs <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#arrived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return true;
  }

  close(): void {
    this.socket.close();
  }
}

/** Sends all queries over one TCP connection, and returns as many answers. */
export async function askTcp(packets: readonly Buffer[], target: Target): Promise<Answer[]> {
  const socket = connect(target.port, target.host);
  await once(socket, 'connect');
  for (const packet of packets)
    socket.write(Buffer.concat([Buffer.from([packet.length >> 8, packet.length & 0xff]), packet]));
  const answers: Answer[] = [];
  let pending = Buffer.alloc(0);
  for await (const chunk of socket) {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      answers.push(parse(pending.subarray(2, end)));
      pending = pending.subarray(end);
    }
    if (answers.length === packets.length) break;
  }
  socket.destroy();
  return answers;
}
