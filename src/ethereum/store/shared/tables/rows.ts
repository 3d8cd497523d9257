import { randomBytes } from 'node:crypto';
import {
  actionValueSpan,
  attributesOf,
  hasFailed,
  type IndexedBlock,
  kindIn,
  TRACES_PER_CHUNK,
  valueBitsIn,
  visitTerms,
} from '../../../traces/index.ts';
import { RowWriter } from '../connection/rowWriter.ts';
import { type BlockRow, EXACTNESS } from './blockRow.ts';
import { chunkChecksum, digestOf } from './checksums.ts';

/**
 * Flags of a row in `trace_parties`: where the term occurs in the trace. If sender and recipient are the same address,
 * the trace has one row for both, with two flags.
 */
export const SIDE_BITS = { from: 1, to: 2, transaction: 4 } as const;

/**
 * Trace attribute that exists only in ClickHouse: the trace is a plain call with a value, even if the call failed.
 */
export const CARRIES_VALUE = 1 << 14;

const NO_BYTES: Uint8Array = new Uint8Array();
const CALL = 0;
const ADDRESS_BYTES = 20;
const VALUE_BYTES = 32;
/** Size of the columns chain, number and write. */
const START_BYTES = 20;
/** Size of a row of `trace_chunks` without its bytes, at most. */
const CHUNK_OVERHEAD_BYTES = START_BYTES + 17;
/** Size of a row of `trace_parties`. */
export const PARTY_BYTES = START_BYTES + ADDRESS_BYTES + 7 + VALUE_BYTES;

/** A row of `trace_parties`, without the columns that are read from its trace. */
interface Party {
  readonly term: Uint8Array;
  readonly traceIndex: number;
  sides: number;
}

/** A block whose senders, recipients and transactions are read from its chunks. */
type ChunkedBlock = Omit<IndexedBlock, 'postings'>;

/** A block and its row in `trace_blocks`. Its chunks and parties contain the random `write` of that row. */
export interface BlockWrite {
  readonly block: ChunkedBlock;
  readonly row: BlockRow;
  readonly parties: readonly Party[];
}

/** Returns a block as a new write, with a random number that no other write has. */
export function writeOf(block: ChunkedBlock, version = 0): BlockWrite {
  const parties = partiesIn(block);
  const row = {
    ...block.block,
    version,
    exactness: exactnessOf(block),
    write: newWrite(),
    chunks: block.chunks.length,
    parties: parties.length,
    digest: digestOf(block.chunks),
  };
  return { block, row, parties };
}

/** Returns the senders, recipients and transactions of the traces in a block's chunks. */
function partiesIn({ block, chunks }: ChunkedBlock): Party[] {
  const parties: Party[] = [];
  for (let first = 0; first < block.traceCount; first += TRACES_PER_CHUNK) {
    const chunk = chunks[first / TRACES_PER_CHUNK] ?? NO_BYTES;
    visitTerms(chunk, (side, at, index) => {
      const traceIndex = first + index;
      const term = chunk.subarray(at, at + ADDRESS_BYTES);
      // The recipient of a trace comes directly after its sender.
      const sender = side === 'to' ? parties.at(-1) : undefined;
      if (sender?.traceIndex === traceIndex && Buffer.compare(sender.term, term) === 0)
        sender.sides |= SIDE_BITS.to;
      else parties.push({ term, traceIndex, sides: SIDE_BITS[side] });
    });
  }
  return parties;
}

export const newWrite = (): bigint => randomBytes(8).readBigUInt64LE();

export const exactnessOf = ({ block, lacksFrames }: ChunkedBlock): number =>
  block.unavailable !== undefined
    ? EXACTNESS.unavailable
    : lacksFrames === true
      ? EXACTNESS.lacksFrames
      : EXACTNESS.complete;

/** Encodes the chunks of blocks as rows of `trace_chunks`. */
export function chunkRows(chain: bigint, written: readonly BlockWrite[]): Buffer {
  const sizes = written.flatMap(({ block }) =>
    block.chunks.map(({ length }) => CHUNK_OVERHEAD_BYTES + length),
  );
  const rows = new RowWriter(sizes.reduce((sum, size) => sum + size, 0));
  for (const { block, row } of written) {
    const { number, write } = row;
    const start = startOf(chain, row);
    for (const [chunk, bytes] of block.chunks.entries()) {
      const checksum = chunkChecksum(chain, { number, chunk, write }, bytes);
      rows.fixed(start).uint32(chunk).uint64(checksum).length(bytes.length).fixed(bytes);
    }
  }
  return rows.written;
}

/** Encodes the addresses and transactions of blocks as rows of `trace_parties`. */
export function partyRows(chain: bigint, written: readonly BlockWrite[]): Buffer {
  const rows = new RowWriter(PARTY_BYTES * written.reduce((sum, { row }) => sum + row.parties, 0));
  for (const { block, row, parties } of written) {
    const start = startOf(chain, row);
    const attributes = attributesOf(block.chunks, row.traceCount);
    for (const { term, traceIndex, sides } of parties) {
      const { bits, value } =
        sides === SIDE_BITS.transaction ? NO_TRANSFER : transferIn(block, traceIndex, attributes[traceIndex]);
      rows.fixed(start).fixed(term).uint32(traceIndex).uint8(sides).uint16(bits).uint256(value);
    }
  }
  return rows.written;
}

/** Returns the columns with which a row of `trace_chunks` and of `trace_parties` starts. */
const startOf = (chain: bigint, { number, write }: BlockRow): Buffer =>
  new RowWriter(START_BYTES).uint64(chain).uint32(number).uint64(write).written;

/** Divides the result of `partyRows` into rows. */
export const eachParty = (rows: Buffer): Buffer[] =>
  Array.from({ length: rows.length / PARTY_BYTES }, (_, i) =>
    rows.subarray(i * PARTY_BYTES, (i + 1) * PARTY_BYTES),
  );

/** Returns the address, or the start of the transaction hash, of a result of `eachParty`, as hex digits. */
export const termIn = (row: Buffer): string => row.toString('hex', START_BYTES, START_BYTES + ADDRESS_BYTES);

/** SQL: selects results of `eachParty` as rows of `trace_parties`. */
export const selectParties = (rows: readonly Buffer[]): string =>
  `SELECT reinterpretAsUInt64(substring(row, 1, 8)) AS chain, reinterpretAsUInt32(substring(row, 9, 4)) AS number,
    reinterpretAsUInt64(substring(row, 13, 8)) AS write, toFixedString(substring(row, 21, 20), 20) AS address,
    reinterpretAsUInt32(substring(row, 41, 4)) AS trace_index, reinterpretAsUInt8(substring(row, 45, 1)) AS sides,
    reinterpretAsUInt16(substring(row, 46, 2)) AS attributes, reinterpretAsUInt256(substring(row, 48, 32)) AS value
  FROM (SELECT unhex(arrayJoin(splitByChar(',', '${rows.map((row) => row.toString('hex')).join(',')}'))) AS row)
  WHERE row != ''`;

const NO_TRANSFER = { bits: 0, value: NO_BYTES };

/** Returns the attributes of a row in `trace_parties`, and the transferred value as big-endian bytes. */
function transferIn({ chunks }: ChunkedBlock, traceIndex: number, bits = 0): typeof NO_TRANSFER {
  const isFailedCall = hasFailed(bits) && kindIn(bits) === CALL;
  const chunk = chunks[Math.floor(traceIndex / TRACES_PER_CHUNK)];
  // A failed call transfers no value, but can have one.
  if (chunk === undefined || (valueBitsIn(bits) === 0 && !isFailedCall)) return { bits, value: NO_BYTES };
  const { start, end } = actionValueSpan(chunk, traceIndex % TRACES_PER_CHUNK);
  return {
    bits: end > start && kindIn(bits) === CALL ? bits | CARRIES_VALUE : bits,
    value: hasFailed(bits) ? NO_BYTES : chunk.subarray(start, end),
  };
}
