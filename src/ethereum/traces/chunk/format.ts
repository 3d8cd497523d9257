/**
 * How traces are stored: in chunks of a few consecutive traces of one block, as bytes.
 *
 * A chunk is small, so that one trace of a block never read before costs one short read; it holds what its traces
 * share (block hash, transactions) once; and its bytes are plain, because the engine compresses them. Hex digits are
 * stored as the bytes that they stand for, and become digits again when an answer is written.
 *
 *   chunk   u8 traces, u8 transactions, 32 block hash, transactions x (32 hash, u32 position),
 *           traces x u32 offset of the record in the chunk, records
 *   record  u8 kind, u8 transaction's index in the chunk (or NO_TRANSACTION), subtraces, depth, depth x index,
 *           then by type
 *           call     20 from, 20 to, gas, value, input; result: gasUsed, output
 *           create   20 from, gas, value, init; result: 20 address (where kind says so), gasUsed, code or revert data
 *           suicide  20 address, 20 refundAddress, balance
 *           reward   20 author, value
 *           and last, where kind says so, the error as a JSON string
 *
 * Integers without a given width are LEB128; byte strings and quantities have their length in bytes before them,
 * quantities are big-endian without leading zero bytes.
 */

/** Traces in a chunk: 16 are one part in seventy smaller on disk, and double what is read for a cold trace. */
export const TRACES_PER_CHUNK = 8;

export const NO_TRANSACTION = 0xff;

export const HASH_BYTES = 32;
export const ADDRESS_BYTES = 20;

/** Bytes before the first transaction of a chunk. */
export const CHUNK_HEAD_BYTES = 2 + HASH_BYTES;
export const TRANSACTION_BYTES = HASH_BYTES + 4;

export const TRACE_TYPES = ['call', 'create', 'suicide', 'reward'] as const;
export const CALL_TYPES = ['call', 'callcode', 'delegatecall', 'staticcall'] as const;
export const CREATION_METHODS = [undefined, 'create', 'create2'] as const;
export const REWARD_TYPES = ['block', 'uncle'] as const;

/** A record's first byte: type in bits 0 and 1, the flags below, and the variant (call type and so on) in bits 6 and 7. */
export const TYPE_MASK = 0b11;
export const HAS_ERROR = 0b100;
export const HAS_RESULT = 0b1000;
export const HAS_ADDRESS = 0b1_0000;
export const VARIANT_SHIFT = 6;

/** The chunk that holds trace `traceIndex` of a block. */
export const chunkOf = (traceIndex: number): number => Math.floor(traceIndex / TRACES_PER_CHUNK);
