import { createHash, hash } from 'node:crypto';
import type { ChainIdentity } from '../../../traces/index.ts';

/** Position of a chunk in the table `trace_chunks`. */
export interface ChunkKey {
  readonly chain: bigint;
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
export function chunkChecksum({ chain, number, chunk, write }: ChunkKey, bytes: Uint8Array): bigint {
  const key = Buffer.allocUnsafe(KEY_BYTES);
  key.writeBigUInt64LE(chain, 0);
  key.writeBigUInt64LE(write, 8);
  key.writeUInt32LE(number, 16);
  key.writeUInt32LE(chunk, 20);
  return checksumOf(Buffer.concat([key, bytes]));
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
