import { createHash, hash } from 'node:crypto';
import type { ChainIdentity } from '../../../traces/index.ts';
import { RowWriter } from '../connection/rowWriter.ts';

/** Position of a chunk among those of a chain. */
export interface ChunkKey {
  readonly number: number;
  readonly chunk: number;
  readonly write: bigint;
}

const KEY_BYTES = 24;

/** Returns 64 bits of the SHA-256 of bytes or text. */
export const checksumOf = (data: Uint8Array | string): bigint =>
  hash('sha256', data, 'buffer').readBigUInt64LE(0);

/** Returns the number by which the rows of a chain are found in tables that several chains share. */
export const chainKeyOf = ({ chainId, genesisHash }: ChainIdentity): bigint =>
  checksumOf(`${chainId} ${genesisHash}`);

/** Returns the checksum over the position of a chunk and its bytes. */
export function chunkChecksum(chain: bigint, { number, chunk, write }: ChunkKey, bytes: Uint8Array): bigint {
  const row = new RowWriter(KEY_BYTES + bytes.length)
    .uint64(chain)
    .uint64(write)
    .uint32(number)
    .uint32(chunk);
  return checksumOf(row.fixed(bytes).written);
}

/** Returns the SHA-256 over all chunks of a block. It is the same for every write of the same traces. */
export function digestOf(chunks: readonly Uint8Array[]): Buffer {
  const digest = createHash('sha256');
  const length = Buffer.allocUnsafe(4);
  for (const bytes of chunks) {
    length.writeUInt32LE(bytes.length);
    digest.update(length).update(bytes);
  }
  return digest.digest();
}
