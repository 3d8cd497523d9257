import type { Side } from '../store.ts';
import {
  ADDRESS_BYTES,
  CHUNK_HEAD_BYTES,
  HAS_ADDRESS,
  HAS_ERROR,
  HAS_RESULT,
  NO_TRANSACTION,
  TRACE_TYPES,
  TRANSACTION_BYTES,
  TYPE_MASK,
} from './format.ts';
import { RecordReader, recordStart, type Span, tracesIn } from './recordReader.ts';

/** Called for each 20-byte index term of a chunk: `at` is its offset, and `index` is the trace that contains it. */
export type VisitTerm = (side: Side, at: number, index: number) => void;

const reader = new RecordReader();
const skipped: Span = { start: 0, end: 0 };

/** Visits the index terms in a chunk. They must be the terms that `indexBlock` derives from the decoded traces. */
export function visitTerms(chunk: Uint8Array, visit: VisitTerm): void {
  reader.bytes = chunk;
  for (let index = 0; index < tracesIn(chunk); index++) {
    reader.at = recordStart(chunk, index);
    const kind = reader.byte();
    const transaction = reader.byte();
    reader.varint();
    const depth = reader.varint();
    for (let i = 0; i < depth; i++) reader.varint();
    visitParties(kind, index, visit);
    const isRoot = transaction !== NO_TRANSACTION && depth === 0;
    if (isRoot) visit('transaction', CHUNK_HEAD_BYTES + TRANSACTION_BYTES * transaction, index);
  }
}

/** Visits the sender and the recipient of a trace. They must be those that `partiesOf` returns. */
function visitParties(kind: number, index: number, visit: VisitTerm): void {
  const at = reader.at;
  switch (TRACE_TYPES[kind & TYPE_MASK]) {
    case 'create': {
      visit('from', at, index);
      const isCreated = (kind & (HAS_RESULT | HAS_ADDRESS | HAS_ERROR)) === (HAS_RESULT | HAS_ADDRESS);
      if (!isCreated) return;
      reader.at += ADDRESS_BYTES;
      reader.data(skipped); // gas
      reader.data(skipped); // value
      reader.payload(skipped, kind);
      return visit('to', reader.at, index);
    }
    case 'reward':
      return visit('to', at, index);
    default:
      visit('from', at, index);
      visit('to', at + ADDRESS_BYTES, index);
  }
}
