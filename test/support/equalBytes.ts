import { expect } from 'vitest';

/** Vitest compares arrays of bytes or integers element by element, which takes several microseconds for each. */
expect.addEqualityTesters([equalBytes]);

/** Returns undefined, which leaves the comparison to Vitest, unless both values are such arrays of one class. */
function equalBytes(a: unknown, b: unknown): boolean | undefined {
  if (!(isIntegers(a) && isIntegers(b)) || a.constructor !== b.constructor) return undefined;
  return Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
}

type Integers = Uint8Array | Uint16Array | Uint32Array;

const isIntegers = (value: unknown): value is Integers =>
  value instanceof Uint8Array || value instanceof Uint16Array || value instanceof Uint32Array;

const bytesOf = ({ buffer, byteOffset, byteLength }: Integers): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
