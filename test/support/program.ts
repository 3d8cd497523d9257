import { fileURLToPath } from 'node:url';

/**
 * The program as it is shipped (`dist/bundle`), with what V8 made of it when `test/support/build.ts` started it once: so it starts in a
 * third of the processor time, and a run of all tests starts it hundreds of times.
 */
export const PROGRAM = fileURLToPath(new URL('../../dist/.tests/main.cjs', import.meta.url));
