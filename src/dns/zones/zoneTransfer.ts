/**
 * Reads a zone by transfer (AXFR, RFC 5936), and its serial number, from a server that allows it. By hand, as of a million records
 * only owner and type are wanted, and owners in wire form: dns-packet reads labels as text in UTF-8.
 */
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import type { ServerAddress } from '../../platform/addresses/index.ts';
import {
  expandName,
  HEADER_BYTES,
  isResponse,
  nameToWire,
  QueryType,
  queryPacket,
  rcodeOf,
  readUint16,
  skipName,
  typeName,
} from '../protocol/index.ts';
import { TsigSession } from './tsig.ts';
import type { TsigKey } from './tsigKey.ts';

/** A server that says nothing for so long has broken off the transfer. */
const IDLE_MS = 10_000;
/** A zone of a million names, signed, over a slow line; a server that sends a byte now and then has broken off the transfer, too. */
const MAX_TRANSFER_MS = 30 * 60_000;
/** One small answer. */
const MAX_SERIAL_MS = 10_000;
const MS_PER_SECOND = 1000;
const LENGTH_BYTES = 2;
/** Type, class, TTL and length of the data. */
const RECORD_HEADER_BYTES = 10;

/** The transfer failed; what was read of it may be a part of the zone. */
class TransferError extends Error {
  override readonly name = 'TransferError';

  constructor(zone: string, { host, port }: ServerAddress, why: string) {
    super(`the zone ${zone} cannot be transferred from ${host} port ${port}: ${why}`);
  }
}

export interface TransferredRecord {
  /** In wire form. */
  readonly owner: Uint8Array;
  readonly type: string;
  readonly data: Uint8Array;
}

export interface TransferOptions {
  /** Signs the query and must have signed the answer. */
  readonly key?: TsigKey | undefined;
  /** Breaks the transfer off, at once. */
  readonly signal?: AbortSignal;
  /** How long all of it may take. */
  readonly maxMs?: number;
  /** Hears of each sign of life of the server. */
  readonly onProgress?: () => void;
}

/** The records of a zone, its SOA first. Throws `TransferError`, also in the middle. */
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
      if (soas === 0) throw new TransferError(zone, server, 'it does not begin with the SOA record');
      yield record;
    }
  }
  throw new TransferError(zone, server, 'it ended before the zone did');
}

/** The zone's serial number. Throws `TransferError`. */
export async function serialOf(
  zone: string,
  server: ServerAddress,
  options: TransferOptions = {},
): Promise<number> {
  const ofSerial = { zone, server, type: QueryType.SOA };
  for await (const message of messages(ofSerial, { maxMs: MAX_SERIAL_MS, ...options }))
    for (const { type, data } of answersOf(message, (why) => new TransferError(zone, server, why))) {
      // The serial number is the first of five at the end, behind two names.
      if (type === 'SOA' && data.length >= 20) return Buffer.from(data).readUInt32BE(data.length - 20);
    }
  throw new TransferError(zone, server, 'it has no SOA record there');
}

interface ZoneQuery {
  readonly zone: string;
  readonly server: ServerAddress;
  readonly type: number;
}

async function* messages(
  { zone, server, type }: ZoneQuery,
  { key, signal, maxMs, onProgress }: TransferOptions & { readonly maxMs: number },
): AsyncGenerator<Buffer> {
  const id = randomInt(0x10000);
  const tsig = key && new TsigSession(key);
  const question = queryPacket(nameToWire(zone), type, id);
  const query = tsig?.sign(question, Date.now()) ?? question;
  const socket = connect({ host: server.host, port: server.port });
  socket.setTimeout(IDLE_MS, () =>
    socket.destroy(new Error(`nothing came for ${IDLE_MS / MS_PER_SECOND} seconds`)),
  );
  const tooLong = setTimeout(
    () => socket.destroy(new Error(`it took longer than ${maxMs / MS_PER_SECOND} seconds`)),
    maxMs,
  );
  const stop = (): void => void socket.destroy(new Error('it was broken off'));
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  socket.write(Buffer.concat([Uint8Array.of(query.length >> 8, query.length & 0xff), query]));
  let pending = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      onProgress?.();
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= LENGTH_BYTES && pending.length >= LENGTH_BYTES + pending.readUInt16BE(0)) {
        const end = LENGTH_BYTES + pending.readUInt16BE(0);
        const message = pending.subarray(LENGTH_BYTES, end);
        pending = pending.subarray(end);
        if (message.length < HEADER_BYTES || readUint16(message, 0) !== id || !isResponse(message))
          throw new Error('an answer that is not ours');
        const trusted = tsig?.verify(message, Date.now()) ?? [message];
        for (const one of trusted) {
          if (rcodeOf(one) !== 0) throw new Error(`the server refused with rcode ${rcodeOf(one)}`);
          yield one;
        }
        // One answer is all that any other question has.
        if (type !== QueryType.AXFR) return;
      }
    }
  } catch (error) {
    throw new TransferError(zone, server, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(tooLong);
    signal?.removeEventListener('abort', stop);
    socket.destroy();
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
    if (owner === undefined || header === 0 || end > message.length) throw fault('a record cannot be read');
    const data = message.subarray(header + RECORD_HEADER_BYTES, end);
    yield { owner, type: typeName(readUint16(message, header)), data };
    at = end;
  }
}
