import { fileURLToPath } from 'node:url';

/**
 * The compiled program, as `test/support/build.ts` makes it before any test: the modules of `dist` and of the packages,
 * put into a few files, with what V8 made of them. The same code starts in a third of the processor time, and a run of all tests
 * starts it hundreds of times.
 */
export const PROGRAM = fileURLToPath(new URL('../../dist/.tests/main.cjs', import.meta.url));
