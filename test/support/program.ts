import { fileURLToPath } from 'node:url';

/**
 * The shipped program (`dist/bundle`) with the code that V8 compiled when `test/support/build.ts` started it. This
 * reduces the processor time of a start to a third; a full test run starts it hundreds of times.
 */
export const PROGRAM = fileURLToPath(new URL('../../dist/.tests/main.cjs', import.meta.url));
