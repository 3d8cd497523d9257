/** Frames of dnstap, split from a stream of chunks, and compared with a slow and strict protobuf reader. */
import { FrameStream, readTapFrame } from '../../src/dns/dataplane/dnsdist/index.ts';
import { must, type Target } from '../engine/target.ts';

export function open(): Target {
  return {
    seeds: [
      frame({ type: 5, protocol: 1, address: [192, 0, 2, 1], field: 10, message: 'a query' }),
      frame({ type: 6, protocol: 2, address: Array(16).fill(1), field: 14, message: 'an answer' }),
      frame({ type: 6, protocol: 1, address: [], field: 14, message: 'x'.repeat(300) }),
      stream([[0, 0, 0, 4]], 'x'.repeat(10), 'y'),
      frame({ type: 3, protocol: 1, address: [192, 0, 2, 1], field: 10, message: 'of another kind' }),
    ],
    dictionary: ['\x08\x05', '\x08\x06', '\x18\x01', '\x22\x04', '\x52', '\x72', '\x72\x07', '\x7d', '\x79'],
    maxBytes: 1000,
    format: 'bytes',
    maxWork: 1_000_000,
    run(input) {
      const cut = 1 + ((input[0] ?? 0) % 7);
      must(
        eventsOf(input, cut) === eventsOf(input, input.length),
        'a stream has the same frames for any chunk size',
      );
      const read = readTapFrame(input);
      const strict = strictFrame(input);
      if (strict === undefined) return;
      must((read === undefined) === (strict === null), 'a query or answer is recognised as such', {
        read,
        strict,
      });
      if (read === undefined || strict === null) return;
      must(read.isAnswer === strict.isAnswer, 'an answer is distinguished from a query');
      must(read.overUdp === strict.overUdp, 'the protocol is read');
      must(Buffer.from(read.client).equals(strict.client), 'the client is read');
      must(Buffer.from(read.message).equals(strict.message), 'the message is read');
    },
  };
}

/** Returns all frames of a stream that arrives in chunks of this size. */
function eventsOf(input: Uint8Array, pieceBytes: number): string {
  const events: string[] = [];
  const hear = (kind: string) => (frame: Buffer) => void events.push(kind + frame.toString('hex'));
  const frames = new FrameStream({ onFrame: hear('frame '), onControl: hear('control ') });
  for (let at = 0; at < input.length; at += pieceBytes)
    if (!frames.push(Buffer.from(input.subarray(at, at + pieceBytes)))) return [...events, 'too long'].join();
  return events.join();
}

/**
 * Returns the frame according to protobuf's specification: null for another kind of frame, undefined for invalid
 * protobuf.
 */
function strictFrame(bytes: Uint8Array) {
  const outer = strictFields(Buffer.from(bytes));
  const inside = outer?.get(14);
  if (outer === undefined) return undefined;
  if (!Buffer.isBuffer(inside)) return null;
  const fields = strictFields(inside);
  if (fields === undefined) return undefined;
  const type = fields.get(1);
  if (type !== 5n && type !== 6n) return null;
  const message = fields.get(type === 6n ? 14 : 10);
  if (!Buffer.isBuffer(message)) return null;
  const client = fields.get(4);
  return {
    isAnswer: type === 6n,
    overUdp: fields.get(3) === 1n,
    client: Buffer.isBuffer(client) ? client : Buffer.alloc(0),
    message,
  };
}

/** Returns the last value of each field; undefined if the bytes are not a complete message. */
function strictFields(bytes: Buffer): Map<number, Buffer | bigint> | undefined {
  const fields = new Map<number, Buffer | bigint>();
  let at = 0;
  const varint = (): bigint | undefined => {
    let value = 0n;
    for (let i = 0; i < 10; i++) {
      const byte = bytes[at++];
      if (byte === undefined) return undefined;
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    return undefined;
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag === undefined || tag >> 3n === 0n || tag >> 32n !== 0n) return undefined;
    const number = Number(tag >> 3n);
    const wireType = Number(tag & 7n);
    const length = wireType === 1 ? 8n : wireType === 5 ? 4n : varint();
    if (length === undefined || wireType === 3 || wireType === 4 || wireType > 5) return undefined;
    if (wireType === 0) {
      fields.set(number, length);
      continue;
    }
    if (BigInt(at) + length > BigInt(bytes.length)) return undefined;
    if (wireType === 2) fields.set(number, bytes.subarray(at, at + Number(length)));
    at += Number(length);
  }
  return fields;
}

interface Parts {
  readonly type: number;
  readonly protocol: number;
  readonly address: readonly number[];
  readonly field: number;
  readonly message: string;
}

function frame({ type, protocol, address, field, message }: Parts): Buffer {
  const inside = Buffer.concat([
    Buffer.from([8, type, 24, protocol]),
    bytesField(4, Buffer.from(address)),
    bytesField(field, Buffer.from(message)),
  ]);
  return Buffer.concat([bytesField(1, Buffer.from('server')), bytesField(14, inside)]);
}

/** Returns a stream of control frames followed by data frames. */
function stream(controls: readonly (readonly number[])[], ...frames: readonly string[]): Buffer {
  return Buffer.concat([
    ...controls.map((control) => Buffer.concat([uint32(0), uint32(control.length), Buffer.from(control)])),
    ...frames.map((text) => Buffer.concat([uint32(text.length), Buffer.from(text)])),
  ]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function bytesField(number: number, bytes: Buffer): Buffer {
  const { length } = bytes;
  const size = length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  return Buffer.concat([Buffer.from([number * 8 + 2, ...size]), bytes]);
}
