/** Content codings of HTTP: which one a client takes, compressing answers, decompressing bodies, all outside of this thread. */
export { AcceptedCodings } from './acceptEncoding.ts';
export type { Coding } from './coding.ts';
export { compressed, compressor } from './compress.ts';
export { bodyCoding, Decompressor, TAKEN_CODINGS } from './decompress.ts';
export { type Deflated, deflated, gzipAround } from './deflated.ts';
export { SpareProcessor } from './spareProcessor.ts';
