import { ADDRESS_BYTES, HAS_ADDRESS, HAS_RESULT, HAS_SHARED, TRACE_TYPES, TYPE_MASK } from './format.ts';
import { IN_RECORD, RecordReader, recordStart, type Span, tracesIn } from './recordReader.ts';

const reader = new RecordReader();
const span: Span = { start: 0, end: 0 };

const refers = (chunk: Uint8Array, index: number): boolean =>
  ((chunk[recordStart(chunk, index)] ?? 0) & HAS_SHARED) !== 0;

export function refersToData(chunk: Uint8Array): boolean {
  for (let index = 0; index < tracesIn(chunk); index++) if (refers(chunk, index)) return true;
  return false;
}

/** Returns the numbers of the data chunks that a trace references. */
export function dataChunksOf(chunk: Uint8Array, index: number): number[] {
  if (!refers(chunk, index)) return [];
  reader.bytes = chunk;
  reader.at = recordStart(chunk, index);
  const kind = reader.byte();
  reader.byte(); // transaction
  reader.varint(); // subtraces
  for (let depth = reader.varint(); depth > 0; depth--) reader.varint();
  reader.at += TRACE_TYPES[kind & TYPE_MASK] === 'call' ? 2 * ADDRESS_BYTES : ADDRESS_BYTES;
  reader.data(span); // gas
  reader.data(span); // value
  const numbers = [reader.payload(span, kind)];
  if ((kind & HAS_RESULT) !== 0) {
    if ((kind & HAS_ADDRESS) !== 0) reader.at += ADDRESS_BYTES;
    reader.data(span); // gasUsed
    numbers.push(reader.payload(span, kind));
  }
  return numbers.filter((number) => number !== IN_RECORD);
}
