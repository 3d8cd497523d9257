/**
 * Reads a zone by transfer (AXFR, RFC 5936), or only its serial number. Does not use dns-packet, which decodes all
 * record data: a transfer may contain a million records, of which only owner and type are needed.
 */
import { randomInt } from 'node:crypto';
import { on } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import {
  expandName,
  HEADER_BYTES,
  isResponse,
  nameToWire,
  QueryType,
  queryPacket,
  rcodeName,
  rcodeOf,
  readUint16,
  skipName,
  typeName,
} from '../protocol/index.ts';
import { TsigSession } from './tsig.ts';
import type { TsigKey } from './tsigKey.ts';

/** Maximum time to wait for data from the server. */
const IDLE_MS = 10_000;
/**
 * Bytes of a transfer that are received before their names are added to the profile, which takes longer. Knot closes
 * the connection of a client that does not read for half a second. A million unsigned names fit.
 */
const READ_AHEAD_BYTES = 32 * 1024 * 1024;
/**
 * Maximum duration of a transfer: enough for a signed zone of a million names over a slow line. It also ends
 * transfers from servers that send single bytes, for which the idle timeout never expires.
 */
const MAX_TRANSFER_MS = 30 * 60_000;
/** Maximum duration of a query for the serial number, which has a small answer. */
const MAX_SERIAL_MS = 10_000;
const PIECE_BYTES = 64 * 1024;
const MS_PER_SECOND = 1000;
const LENGTH_BYTES = 2;
/** Bytes of a record's type, class, TTL and data length. */
const RECORD_HEADER_BYTES = 10;

/** Thrown if a transfer fails. The records that were yielded before may be only a part of the zone. */
class TransferError extends Error {
  override readonly name = 'TransferError';

  constructor(zone: string, { host, port }: ServerAddress, why: string) {
    super(`transfer of zone ${zone} from ${host} port ${port} failed: ${why}`);
  }
}

export interface TransferredRecord {
  readonly owner: Uint8Array;
  readonly type: string;
  readonly data: Uint8Array;
}

export interface TransferOptions {
  /** TSIG key with which the query is signed. The answer must then be signed with the same key. */
  readonly key?: TsigKey | undefined;
  readonly signal?: AbortSignal;
  readonly maxMs?: number;
  readonly idleMs?: number;
  /** Called whenever data arrives from the server. */
  readonly onProgress?: () => void;
}

/** Yields the records of a zone, SOA first. Throws `TransferError`, possibly after it has yielded some records. */
export async function* transferZone(
  zone: string,
  server: ServerAddress,
  options: TransferOptions = {},
): AsyncGenerator<TransferredRecord> {
  let soas = 0;
  const transfer = { zone, server, type: QueryType.AXFR };
  for await (const message of messages(transfer, { maxMs: MAX_TRANSFER_MS, ...options })) {
    for (const record of answersOf(message, (why) => new TransferError(zone, server, why))) {
      if (record.type === 'SOA' && ++soas === 2) return;
      if (soas === 0) throw new TransferError(zone, server, 'the first record is not an SOA record');
      yield record;
    }
  }
  throw new TransferError(zone, server, 'the connection ended before the zone was complete');
}

/** Returns the serial number of a zone. Throws `TransferError`. */
export async function serialOf(
  zone: string,
  server: ServerAddress,
  options: TransferOptions = {},
): Promise<number> {
  const ofSerial = { zone, server, type: QueryType.SOA };
  for await (const message of messages(ofSerial, { maxMs: MAX_SERIAL_MS, ...options }))
    for (const { type, data } of answersOf(message, (why) => new TransferError(zone, server, why))) {
      // SOA data ends with five 32-bit numbers after two names. The serial number is the first of the five.
      if (type === 'SOA' && data.length >= 20) return Buffer.from(data).readUInt32BE(data.length - 20);
    }
  throw new TransferError(zone, server, 'the answer has no SOA record');
}

interface ZoneQuery {
  readonly zone: string;
  readonly server: ServerAddress;
  readonly type: number;
}

async function* messages(
  { zone, server, type }: ZoneQuery,
  { key, signal, maxMs, idleMs = IDLE_MS, onProgress }: TransferOptions & { readonly maxMs: number },
): AsyncGenerator<Buffer> {
  const id = randomInt(0x10000);
  const tsig = key && new TsigSession(key);
  const question = queryPacket(nameToWire(zone), type, id);
  const query = tsig?.sign(question, Date.now()) ?? question;
  const options = { host: server.host, port: server.port, readableHighWaterMark: READ_AHEAD_BYTES };
  const socket = connect(options);
  socket.setTimeout(idleMs, () => socket.destroy(new Error(`no data for ${idleMs / MS_PER_SECOND} seconds`)));
  const tooLong = setTimeout(
    () => socket.destroy(new Error(`timed out after ${maxMs / MS_PER_SECOND} seconds`)),
    maxMs,
  );
  const stop = (): void => void socket.destroy(new Error('aborted'));
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  socket.write(Buffer.concat([Uint8Array.of(query.length >> 8, query.length & 0xff), query]));
  let pending: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of piecesOf(socket)) {
      // Received data waits for the caller: the server is not idle.
      socket.setTimeout(0);
      onProgress?.();
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= LENGTH_BYTES && pending.length >= LENGTH_BYTES + pending.readUInt16BE(0)) {
        const end = LENGTH_BYTES + pending.readUInt16BE(0);
        const message = pending.subarray(LENGTH_BYTES, end);
        pending = pending.subarray(end);
        if (message.length < HEADER_BYTES || readUint16(message, 0) !== id || !isResponse(message))
          throw new Error('the answer does not match the query');
        const trusted = tsig?.verify(message, Date.now()) ?? [message];
        for (const one of trusted) {
          if (rcodeOf(one) !== 0) throw new Error(`the server answered ${rcodeName(rcodeOf(one))}`);
          yield one;
        }
        // Only the answer to an AXFR query may have several messages.
        if (type !== QueryType.AXFR) return;
      }
      socket.setTimeout(idleMs);
    }
  } catch (error) {
    throw new TransferError(zone, server, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(tooLong);
    signal?.removeEventListener('abort', stop);
    socket.destroy();
  }
}

/**
 * Yields the received bytes in pieces. The iterator of a socket returns all buffered bytes at once: the server would wait
 * until the guard has used them.
 */
async function* piecesOf(socket: Socket): AsyncGenerator<Buffer> {
  for await (const _ of on(socket, 'readable', { close: ['end'] })) {
    for (;;) {
      const piece: Buffer | null = socket.read(Math.min(PIECE_BYTES, socket.readableLength || 1));
      if (piece === null) break;
      yield piece;
    }
  }
}

function* answersOf(message: Buffer, fault: (why: string) => TransferError): Generator<TransferredRecord> {
  let at = HEADER_BYTES;
  for (let questions = readUint16(message, 4); questions > 0; questions--) at = skipName(message, at) + 4;
  for (let left = readUint16(message, 6); left > 0; left--) {
    const owner = expandName(message, at);
    const header = skipName(message, at);
    const length = readUint16(message, header + 8);
    const end = header + RECORD_HEADER_BYTES + length;
    if (owner === undefined || header === 0 || end > message.length) throw fault('malformed record');
    const data = message.subarray(header + RECORD_HEADER_BYTES, end);
    yield { owner, type: typeName(readUint16(message, header)), data };
    at = end;
  }
}
