import { COMPRESSORS, type Coding } from './coding.ts';

/** Returns a stream that compresses in zlib's thread pool. */
export function compressor(coding: Coding) {
  const create = COMPRESSORS.get(coding);
  if (create === undefined) throw new Error(`no compressor for ${coding}`);
  return create();
}

/** Returns false if there is not enough memory. */
type Charge = (bytes: number) => boolean;

/** Compresses the parts, which must not change meanwhile. Returns undefined if the memory limit is exceeded. */
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
    // Emitted even after destroy(); until then zlib uses its memory.
    engine.on('close', () => resolve(undefined));
    engine.on('error', () => undefined);
    for (const part of parts) engine.write(part);
    engine.end();
  });
}
