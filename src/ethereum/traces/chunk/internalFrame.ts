import type { Address, Hash } from '../trace.ts';
import {
  ADDRESS_BYTES,
  CHUNK_HEAD_BYTES,
  CREATION_METHODS,
  HAS_ADDRESS,
  HAS_ERROR,
  HAS_RESULT,
  HASH_BYTES,
  NO_TRANSACTION,
  TRACE_TYPES,
  TRANSACTION_BYTES,
  TYPE_MASK,
  VARIANT_SHIFT,
} from './format.ts';
import { RecordReader, recordBounds, recordStart, type Span } from './recordReader.ts';

/** A frame of a transaction's call tree, without its input and output. */
export interface InternalFrame {
  readonly transactionHash: Hash;
  readonly traceAddress: readonly number[];
  readonly type: 'call' | 'create' | 'create2' | 'suicide';
  readonly from: Address;
  /** Undefined for a creation. */
  readonly to: Address | undefined;
  readonly created: Address | undefined;
  readonly value: bigint;
  /** Undefined for a destruction. */
  readonly gas: bigint | undefined;
  /** Undefined if the frame has no result. */
  readonly gasUsed: bigint | undefined;
  readonly error: string | undefined;
}

const reader = new RecordReader();
const span: Span = { start: 0, end: 0 };

/** Returns the transaction hash of the trace at `index` in a chunk. Throws an error for a reward, which has none. */
export function transactionHashAt(chunk: Uint8Array, index: number): Hash {
  const transaction = chunk[recordStart(chunk, index) + 1] ?? NO_TRANSACTION;
  if (transaction === NO_TRANSACTION) throw new Error('the trace belongs to no transaction');
  const at = CHUNK_HEAD_BYTES + TRANSACTION_BYTES * transaction;
  return `0x${Buffer.from(chunk.buffer, chunk.byteOffset + at, HASH_BYTES).toString('hex')}` as Hash; // 32 bytes in hex
}

/** Decodes the trace at `index` in a chunk. Throws an error for a reward, which is not a frame. */
export function internalFrameAt(chunk: Uint8Array, index: number): InternalFrame {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const [start, end] = recordBounds(chunk, index);
  reader.bytes = chunk;
  reader.at = start;
  const kind = reader.byte();
  reader.byte(); // transaction
  reader.varint(); // subtraces
  const traceAddress = Array.from({ length: reader.varint() }, () => reader.varint());
  const base = { transactionHash: transactionHashAt(chunk, index), traceAddress };
  const type = TRACE_TYPES[kind & TYPE_MASK];
  const from = addressIn(bytes);
  if (type === 'suicide') {
    const to = addressIn(bytes);
    const rest = { created: undefined, value: quantityIn(bytes), gas: undefined, gasUsed: undefined };
    return { ...base, type, from, to, ...rest, error: errorIn(bytes, kind, end) };
  }
  const to = type === 'call' ? addressIn(bytes) : undefined;
  const gas = quantityIn(bytes);
  const value = quantityIn(bytes);
  reader.payload(span, kind); // input
  const created = (kind & HAS_ADDRESS) === 0 ? undefined : addressIn(bytes);
  const gasUsed = (kind & HAS_RESULT) === 0 ? undefined : quantityIn(bytes);
  if (gasUsed !== undefined) reader.payload(span, kind); // output
  const frame = { from, to, created, value, gas, gasUsed, error: errorIn(bytes, kind, end) };
  return { ...base, type: type === 'call' ? type : creationOf(kind), ...frame };
}

const creationOf = (kind: number): 'create' | 'create2' =>
  CREATION_METHODS[kind >>> VARIANT_SHIFT] ?? 'create';

function addressIn(bytes: Buffer): Address {
  reader.fixed(span, ADDRESS_BYTES);
  return `0x${bytes.toString('hex', span.start, span.end)}` as Address; // 20 bytes in hex
}

function quantityIn(bytes: Buffer): bigint {
  reader.data(span);
  return span.start === span.end ? 0n : BigInt(`0x${bytes.toString('hex', span.start, span.end)}`);
}

function errorIn(bytes: Buffer, kind: number, end: number): string | undefined {
  if ((kind & HAS_ERROR) === 0) return undefined;
  reader.varint();
  return JSON.parse(bytes.toString('utf8', reader.at, end)) as string; // encoded from a string
}
