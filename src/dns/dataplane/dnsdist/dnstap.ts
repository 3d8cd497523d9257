/** Receives dnstap (dnstap.info) over TCP: protobuf messages in Frame Streams. Parses only the needed fields. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { PacketFaults, PendingTimes } from '../index.ts';
import { FrameStream } from './frameStream.ts';

/** A DNS query or answer that a DNS server has recorded. */
export interface TapFrame {
  readonly isAnswer: boolean;
  /** Whether the DNS server answered from its own cache. */
  readonly isCached: boolean;
  readonly overUdp: boolean;
  /** Address of the client: 4 or 16 bytes, in network byte order. Empty if the frame contains no address. */
  readonly client: Uint8Array;
  /** Port of the client, or 0 if the frame contains no port. */
  readonly clientPort: number;
  /** Time of the query or answer by the clock of the DNS server, in milliseconds. 0 if the frame contains none. */
  readonly timeMs: number;
  readonly message: Uint8Array;
}

export interface DnstapListener {
  /** Called for each connection. The result is passed with each frame of the connection. */
  onConnection(): PendingTimes;
  onFrame(frame: TapFrame, pending: PendingTimes): void;
}

/** Identities in dnstap frames: of queries and answers of servers, and of answers from the packet cache of dnsdist. */
export const TAP_IDENTITY = 'floodgate';
export const CACHE_IDENTITY = 'floodgate-cache';

const CONTENT_TYPE = Buffer.from('protobuf:dnstap.Dnstap');
const CACHE_BYTES = Buffer.from(CACHE_IDENTITY);
const CONTROL = { accept: 1, start: 2, stop: 3, ready: 4, finish: 5 } as const;
const CONTENT_TYPE_FIELD = 1;
const CLIENT_QUERY = 5;
const CLIENT_RESPONSE = 6;
const UDP = 1;

export class DnstapServer {
  frames = 0;
  readonly #listener: DnstapListener;
  readonly #faults: PacketFaults;
  readonly #open = new Map<Socket, PendingTimes>();
  readonly #server: Server;

  constructor(listener: DnstapListener, faults: PacketFaults) {
    this.#listener = listener;
    this.#faults = faults;
    this.#server = createServer((socket) => {
      const pending = listener.onConnection();
      this.#open.set(socket, pending);
      socket.on('close', () => this.#open.delete(socket));
      socket.on('error', () => socket.destroy());
      this.#serve(socket, pending);
    });
  }

  /** Returns the queries that wait for an answer, by connection. */
  pending(): Iterable<PendingTimes> {
    return this.#open.values();
  }

  /** Listens on this address and returns the port. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    // After `listening`, an error means that one connection was not accepted. It is ignored, as dnsdist connects
    // again.
    this.#server.on('error', () => {});
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  async close(): Promise<void> {
    for (const socket of this.#open.keys()) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket, pending: PendingTimes): void {
    const frames = new FrameStream({
      onFrame: (frame) => this.#frame(frame, pending),
      onControl: (frame) => answerControl(socket, frame),
    });
    socket.on('data', (chunk: Buffer) => {
      if (!frames.push(chunk)) socket.destroy();
    });
  }

  #frame(frame: Buffer, pending: PendingTimes): void {
    this.frames++;
    try {
      const tapFrame = readTapFrame(frame);
      if (tapFrame !== undefined) this.#listener.onFrame(tapFrame, pending);
    } catch (error) {
      this.#faults.note(error, Date.now());
    }
  }
}

function answerControl(socket: Socket, frame: Buffer): void {
  const type = frame.length >= 4 ? frame.readUInt32BE(0) : 0;
  if (type === CONTROL.ready) socket.write(control(CONTROL.accept, CONTENT_TYPE));
  if (type === CONTROL.stop) socket.end(control(CONTROL.finish));
}

function control(type: number, contentType?: Buffer): Buffer {
  const field = contentType ? [uint32(CONTENT_TYPE_FIELD), uint32(contentType.length), contentType] : [];
  const frame = Buffer.concat([uint32(type), ...field]);
  return Buffer.concat([uint32(0), uint32(frame.length), frame]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Field numbers in dnstap.proto: the fields with identity and message, and below the fields of the message. */
const DNSTAP_IDENTITY = 1;
const DNSTAP_MESSAGE = 14;
const MESSAGE = {
  type: 1,
  socketProtocol: 3,
  queryAddress: 4,
  queryPort: 6,
  querySeconds: 8,
  queryNanoseconds: 9,
  queryMessage: 10,
  responseSeconds: 12,
  responseNanoseconds: 13,
  responseMessage: 14,
} as const;

/** Returns the query or answer in a dnstap frame. Undefined if it is not of type CLIENT_QUERY or CLIENT_RESPONSE. */
export function readTapFrame(frame: Uint8Array): TapFrame | undefined {
  const outer = fieldsOf(frame);
  const message = outer.get(DNSTAP_MESSAGE);
  if (!(message instanceof Uint8Array)) return undefined;
  const identity = outer.get(DNSTAP_IDENTITY);
  const fields = fieldsOf(message);
  const type = fields.get(MESSAGE.type);
  if (type !== CLIENT_QUERY && type !== CLIENT_RESPONSE) return undefined;
  const isAnswer = type === CLIENT_RESPONSE;
  const dns = fields.get(isAnswer ? MESSAGE.responseMessage : MESSAGE.queryMessage);
  const client = fields.get(MESSAGE.queryAddress);
  const port = fields.get(MESSAGE.queryPort);
  if (!(dns instanceof Uint8Array)) return undefined;
  const seconds = fields.get(isAnswer ? MESSAGE.responseSeconds : MESSAGE.querySeconds);
  const nanoseconds = fields.get(isAnswer ? MESSAGE.responseNanoseconds : MESSAGE.queryNanoseconds);
  return {
    isAnswer,
    isCached: identity instanceof Uint8Array && Buffer.from(identity).equals(CACHE_BYTES),
    overUdp: fields.get(MESSAGE.socketProtocol) === UDP,
    client: client instanceof Uint8Array ? client : new Uint8Array(),
    clientPort: typeof port === 'number' ? port : 0,
    timeMs: numberOf(seconds) * 1000 + numberOf(nanoseconds) / 1_000_000,
    message: dns,
  };
}

const numberOf = (field: Uint8Array | number | undefined): number => (typeof field === 'number' ? field : 0);

/** Returns the fields of a protobuf message by field number. Skips fields that exceed the message. */
function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array | number> {
  const fields = new Map<number, Uint8Array | number>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; at < bytes.length; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    switch (tag & 7) {
      case 0:
        fields.set(number, varint());
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        if (at + length <= bytes.length) fields.set(number, bytes.subarray(at, at + length));
        at += length;
        break;
      }
      case 5:
        if (at + 4 <= bytes.length) fields.set(number, uint32At(bytes, at));
        at += 4;
        break;
      default:
        return fields;
    }
  }
  return fields;
}

const uint32At = (bytes: Uint8Array, at: number): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(at, true);
