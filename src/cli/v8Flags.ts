import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** V8's own, which Node was built with. */
export const USUAL_FACTOR = 2;
let factor = USUAL_FACTOR;

/** By how much the space for new objects grows where much survives in it: by nothing where that is 1. */
export function growNewSpaceBy(wanted: number): void {
  factor = wanted;
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/**
 * Has something loaded, compiled or kept. V8 takes the compiled code that Node brings for its parts under the flags that Node was built with
 * alone: under others all of it is compiled, which was a tenth of the processor time of a start, and is half of a thread's.
 */
export function underUsualFlags<T>(load: () => T): T {
  const held = factor;
  if (held === USUAL_FACTOR) return load();
  growNewSpaceBy(USUAL_FACTOR);
  try {
    return load();
  } finally {
    growNewSpaceBy(held);
  }
}

/**
 * The space for new objects, of which there are two halves of this size. V8 begins with 1 MiB, which costs a busy gateway
 * a third of its time in collections, and grows it to 16 MiB, which takes 44 MB more and makes each collection stop the
 * others for longer; its flag for something in between is read before any program is. So it grows by measurement (src/cli/heapLimits.ts):
 * with 8 MiB no more requests of 16 clients are answered than with this, and their p99 is a fifth longer.
 */
export const NEW_SPACE_BYTES = 4 * 1024 * 1024;

/** Bytes that new objects may fill before they are collected: one of the two halves of the space. */
export function newSpaceBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return space === undefined ? NEW_SPACE_BYTES : space.space_used_size + space.space_available_size;
}

/** Lets the space grow no more once doubling it would make it too large. */
export function holdNewSpace(): void {
  if (newSpaceBytes() > NEW_SPACE_BYTES / 2) growNewSpaceBy(1);
}
