import type { Hash } from '../../../traces/index.ts';

export const hex = (bytes: Buffer): Hash => `0x${bytes.toString('hex')}` as Hash; // 32 bytes as digits
export const bytesOf = (hash: Hash): Buffer => Buffer.from(hash.slice(2), 'hex');
