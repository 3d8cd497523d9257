import { constants, deflateRaw } from 'node:zlib';
import { COMPRESSORS, type Coding } from './coding.ts';

/** Compresses, a piece at a time, outside of this thread. */
export function compressor(coding: Coding) {
  const create = COMPRESSORS.get(coding);
  if (create === undefined) throw new Error(`nothing here compresses as ${coding}`);
  return create();
}

/** Takes room for bytes; false where there is none. */
type Charge = (bytes: number) => boolean;

/** Compresses parts, which nobody may change meanwhile. Undefined where there is no room for what they become. */
export function compressed(
  coding: Coding,
  parts: readonly (string | Uint8Array)[],
  charge: Charge,
): Promise<Buffer[] | undefined> {
  return new Promise((resolve) => {
    const engine = compressor(coding);
    const chunks: Buffer[] = [];
    engine.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (!charge(chunk.length)) engine.destroy();
    });
    engine.on('end', () => resolve(chunks));
    // Also where it was destroyed: its memory is in use until here.
    engine.on('close', () => resolve(undefined));
    engine.on('error', () => undefined);
    for (const part of parts) engine.write(part);
    engine.end();
  });
}

/** Of what is compressed once and sent often. */
const KEPT_LEVEL = 6;

/** Bytes as blocks of deflate (RFC 1951) that end at a whole byte and are not the last ones of their stream. */
export const deflatedBlocks = (bytes: Uint8Array): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    deflateRaw(bytes, { level: KEPT_LEVEL, finishFlush: constants.Z_SYNC_FLUSH }, (error, blocks) =>
      error === null ? resolve(blocks) : reject(error),
    ),
  );
