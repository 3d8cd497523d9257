import { expect } from 'vitest';

/** Vitest compares byte arrays element by element, which takes several microseconds per byte. */
expect.addEqualityTesters([equalBytes]);

/** Returns undefined, which leaves the comparison to Vitest, unless both values are byte arrays of one class. */
function equalBytes(a: unknown, b: unknown): boolean | undefined {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return undefined;
  return a.constructor === b.constructor ? Buffer.compare(a, b) === 0 : undefined;
}
