import { setFlagsFromString } from 'node:v8';

/** V8's own, which Node was built with. */
const USUAL_FACTOR = 2;
let factor = USUAL_FACTOR;

/** By how much the space for new objects grows where much survives in it: by nothing where that is 1. */
export function growNewSpaceBy(wanted: number): void {
  factor = wanted;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/**
 * Loads a part of Node. V8 takes the compiled code that Node brings for it under the flags that Node was built with alone: under others all
 * of it is compiled, which was a tenth of the processor time of a start.
 */
export function underUsualFlags<T>(load: () => T): T {
  const held = factor;
  growNewSpaceBy(USUAL_FACTOR);
  try {
    return load();
  } finally {
    growNewSpaceBy(held);
  }
}
