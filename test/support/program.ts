import { fileURLToPath } from 'node:url';

/**
 * The compiled program, as `test/support/build.ts` makes it before any test: the modules of `dist` and of the packages,
 * put into a few files. The same code starts in half the processor time, and a run of all tests starts it hundreds of times.
 */
export const PROGRAM = fileURLToPath(new URL('../../dist/.tests/main.js', import.meta.url));
