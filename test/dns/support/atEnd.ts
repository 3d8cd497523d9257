import { afterEach } from 'vitest';

const ends: (() => unknown)[] = [];
// A test file that imports this module gets the hook for each of its tests.
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Calls these functions at the end of the test, in reverse order. */
export const atEnd = (...more: readonly (() => unknown)[]): void => void ends.push(...more);
