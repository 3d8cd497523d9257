import { afterEach } from 'vitest';

const ends: (() => unknown)[] = [];
// Imported by a test file it stands for each of its tests.
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Does this when the test is over, the last first. */
export const atEnd = (...more: readonly (() => unknown)[]): void => void ends.push(...more);
