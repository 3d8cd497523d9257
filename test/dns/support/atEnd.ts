import { afterEach } from 'vitest';

type End = () => unknown;
const ends: End[] = [];
// A test file that imports this module gets the hook for each of its tests.
afterEach(() => callEnds(ends.splice(0)));

/** Calls these functions at the end of the test, in reverse order. */
export const atEnd = (...more: readonly End[]): void => void ends.push(...more);

/**
 * Calls the functions in reverse order. If one fails, the others are called too, because they stop servers and timers.
 * Then throws the first error.
 */
export async function callEnds(all: readonly End[]): Promise<void> {
  const errors: unknown[] = [];
  for (const end of all.toReversed())
    try {
      await end();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
}
