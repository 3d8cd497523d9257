import { ADDRESS_BYTES, HAS_ERROR, NO_TRANSACTION, TRACE_TYPES, TYPE_MASK, VARIANT_SHIFT } from './format.ts';
import { RecordReader, recordStart, type Span, tracesIn } from './recordReader.ts';

/**
 * 16 bits about one trace. With them, the filters of an address history need not read the trace itself:
 *
 *   bits 0 to 7   bit length of the transferred value; 0 for no transfer, 255 for 255 bits or more
 *   bits 8 to 10  kind, as an index in TRACE_KINDS
 *   bit 11        set for an internal frame: below the root of its transaction
 *   bit 12        set if the frame failed, or is inside a failed frame
 *   bit 13        set for a reward, which belongs to no transaction
 */
export type TraceAttributes = number;

/** Kinds of traces. The kind of a call is its call type; the kind of any other trace is its type. */
export const TRACE_KINDS = [
  'call',
  'callcode',
  'delegatecall',
  'staticcall',
  'create',
  'suicide',
  'reward',
] as const;
export type TraceKind = (typeof TRACE_KINDS)[number];

const CALL_KINDS = 4;
/** Index in TRACE_KINDS of the first kind that is not a call. From this index on, the order is as in TRACE_TYPES. */
const KIND_OF_CREATE = CALL_KINDS;

const MAX_VALUE_BITS = 255;
const KIND_SHIFT = 8;
const KIND_MASK = 0b111;
const IS_INTERNAL = 1 << 11;
const HAS_FAILED = 1 << 12;
const IS_REWARD = 1 << 13;

export const valueBitsIn = (attributes: TraceAttributes): number => attributes & MAX_VALUE_BITS;
export const kindIn = (attributes: TraceAttributes): number => (attributes >>> KIND_SHIFT) & KIND_MASK;
/** Returns the index in TRACE_TYPES of the type of a kind, which is an index in TRACE_KINDS. */
export const typeOfKind = (kind: number): number => Math.max(0, kind - KIND_OF_CREATE + 1);
export const typeIn = (attributes: TraceAttributes): number => typeOfKind(kindIn(attributes));
export const isInternal = (attributes: TraceAttributes): boolean => (attributes & IS_INTERNAL) !== 0;
export const isRoot = (attributes: TraceAttributes): boolean =>
  (attributes & (IS_INTERNAL | IS_REWARD)) === 0;
export const hasFailed = (attributes: TraceAttributes): boolean => (attributes & HAS_FAILED) !== 0;

/** Returns the bit length of a value as the attributes encode it: 255 for 255 bits or more. */
export const valueBits = (value: bigint): number =>
  value === 0n ? 0 : Math.min(MAX_VALUE_BITS, value.toString(2).length);

const reader = new RecordReader();
const skipped: Span = { start: 0, end: 0 };
const value: Span = { start: 0, end: 0 };

/** Returns the attributes of a block's traces. `chunks` must be all chunks of the block with traces, in order. */
export function attributesOf(chunks: Iterable<Uint8Array>, traceCount: number): Uint16Array {
  const attributes = new Uint16Array(traceCount);
  let at = 0;
  // Traces are in depth-first order, so the traces after a failed frame are inside it as long as they are deeper.
  let failedDepth = Number.POSITIVE_INFINITY;
  for (const chunk of chunks) {
    reader.bytes = chunk;
    for (let index = 0; index < tracesIn(chunk); index++) {
      reader.at = recordStart(chunk, index);
      const kindByte = reader.byte();
      const isReward = reader.byte() === NO_TRANSACTION;
      const depth = readDepth();
      if (isReward || depth <= failedDepth) failedDepth = Number.POSITIVE_INFINITY;
      if ((kindByte & HAS_ERROR) !== 0 && failedDepth > depth) failedDepth = depth;
      const failed = failedDepth !== Number.POSITIVE_INFINITY;
      const kind = kindOf(kindByte);
      attributes[at++] =
        (failed ? HAS_FAILED : movedBits(kindByte, kind)) |
        (kind << KIND_SHIFT) |
        (depth > 0 ? IS_INTERNAL : 0) |
        (isReward ? IS_REWARD : 0);
    }
  }
  return attributes;
}

/** Returns the value in the action of a trace, in wei. The trace's attributes show whether it was transferred. */
export function actionValue(chunk: Uint8Array, index: number): bigint {
  const { start, end } = actionValueSpan(chunk, index);
  let digits = '';
  for (let at = start; at < end; at++) digits += (chunk[at] ?? 0).toString(16).padStart(2, '0');
  return digits === '' ? 0n : BigInt(`0x${digits}`);
}

/** Returns the span of a value's big-endian bytes in the chunk; empty for zero. The next call changes the object. */
export function actionValueSpan(chunk: Uint8Array, index: number): Readonly<Span> {
  reader.bytes = chunk;
  reader.at = recordStart(chunk, index);
  const kindByte = reader.byte();
  reader.byte();
  readDepth();
  readValue(kindByte);
  return value;
}

function kindOf(kindByte: number): number {
  const type = kindByte & TYPE_MASK;
  return type === 0 ? kindByte >>> VARIANT_SHIFT : KIND_OF_CREATE + type - 1;
}

/**
 * Returns the bit length of the value that a trace transferred. It is 0 for a callcode, which transfers from an
 * account to itself, for a delegatecall, which only repeats the value of its parent frame, and for a staticcall.
 */
function movedBits(kindByte: number, kind: number): number {
  if (kind !== 0 && kind < KIND_OF_CREATE) return 0;
  readValue(kindByte);
  const bytes = value.end - value.start;
  if (bytes === 0) return 0;
  const bits = 8 * bytes - Math.clz32(reader.bytes[value.start] ?? 0) + 24;
  return Math.min(MAX_VALUE_BITS, bits);
}

function readDepth(): number {
  reader.varint(); // subtraces
  const depth = reader.varint();
  for (let i = 0; i < depth; i++) reader.varint();
  return depth;
}

function readValue(kindByte: number): void {
  const type = TRACE_TYPES[kindByte & TYPE_MASK];
  reader.at += type === 'call' || type === 'suicide' ? 2 * ADDRESS_BYTES : ADDRESS_BYTES;
  if (type === 'call' || type === 'create') reader.data(skipped); // gas
  reader.data(value);
}
