/** HTTP content codings: negotiation, and compression and decompression in zlib's thread pool. */
export { AcceptedCodings } from './acceptEncoding.ts';
export type { Coding } from './coding.ts';
export { compressed, compressor } from './compress.ts';
export { CpuHeadroom } from './cpuHeadroom.ts';
export { ACCEPTED_CODINGS, bodyCoding, type CodedBody, Decompressor } from './decompress.ts';
