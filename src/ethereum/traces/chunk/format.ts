/**
 * Binary format of stored traces. A chunk contains a few consecutive traces of one block.
 *
 * Chunks are small, so that a trace that is not cached costs one short read. A chunk contains the block hash and each
 * transaction hash only once. The storage engine compresses chunks, so this format does not. Hex data is stored as
 * bytes, and converted to digits when a response is written.
 *
 *   chunk   u8 traces, u8 transactions, 32 block hash, transactions x (32 hash, u32 position),
 *           traces x u32 offset of the record in the chunk, records
 *   record  u8 kind, u8 index of the transaction in the chunk (or NO_TRANSACTION), subtraces, depth, depth x index,
 *           then by type
 *           call     20 from, 20 to, gas, value, input; result: gasUsed, output
 *           create   20 from, gas, value, init; result: 20 address (with HAS_ADDRESS), gasUsed, code or revert data
 *           suicide  20 address, 20 refundAddress, balance
 *           reward   20 author, value
 *           and the error as a JSON string (with HAS_ERROR)
 *
 * Input or output that a block repeats often (repeatedData.ts) is stored once, in a data chunk after the trace chunks:
 *
 *   data chunk  u8 0, u8 0, 32 block hash, bytes
 *
 * In a record with HAS_SHARED, the number before input (init) and output (code) is twice the length in bytes. An odd
 * number refers to a data chunk instead: it is twice the number of the data chunk in the block, plus one.
 *
 * Integers without a given width are LEB128. Byte strings and quantities are prefixed with their length in bytes;
 * quantities are big-endian without leading zero bytes.
 */

/** Traces per chunk. With 16, the database would be 1/70 smaller, but a read of one trace would be twice as long. */
export const TRACES_PER_CHUNK = 8;

export const NO_TRANSACTION = 0xff;

export const HASH_BYTES = 32;
export const ADDRESS_BYTES = 20;

/** Number of bytes before the first transaction of a chunk, or before the data of a data chunk. */
export const CHUNK_HEAD_BYTES = 2 + HASH_BYTES;
export const TRANSACTION_BYTES = HASH_BYTES + 4;

export const TRACE_TYPES = ['call', 'create', 'suicide', 'reward'] as const;
export const CALL_TYPES = ['call', 'callcode', 'delegatecall', 'staticcall'] as const;
export const CREATION_METHODS = [undefined, 'create', 'create2'] as const;
export const REWARD_TYPES = ['block', 'uncle', 'external'] as const;

/** First byte of a record: bits 0 and 1 are the type, bits 2 to 5 flags, bits 6 and 7 for example the call type. */
export const TYPE_MASK = 0b11;
export const HAS_ERROR = 0b100;
export const HAS_RESULT = 0b1000;
export const HAS_ADDRESS = 0b1_0000;
export const HAS_SHARED = 0b10_0000;
export const VARIANT_SHIFT = 6;

export const chunkOf = (traceIndex: number): number => Math.floor(traceIndex / TRACES_PER_CHUNK);
